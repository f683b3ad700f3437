"""The page: Streamlit over the HTTP service. Of ours it knows the wire client alone."""

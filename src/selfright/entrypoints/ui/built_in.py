"""What Streamlit says by itself, in English alone, put into Korean in the browser.

Its widgets take labels and placeholders, but not the words of their parts (the uploader's button, what a screen reader
hears of an arrow). A small script that is the same for everybody exchanges just those; what people wrote is not looked
at. It goes both ways, for Streamlit keeps what stands in the page when the language is switched.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from selfright.entrypoints.ui.words import Language

KOREAN: Mapping[str, str] = MappingProxyType(
    {
        "Skip to main content": "본문으로 건너뛰기",
        "Sidebar": "옆 막대",
        "Collapse sidebar": "옆 막대 접기",
        "Expand sidebar": "옆 막대 펼치기",
        "Close sidebar": "옆 막대 닫기",
        "Open sidebar": "옆 막대 열기",
        "App pages": "페이지",
        "Main menu": "메뉴",
        "Choose an option": "고르세요",
        "No results": "결과 없음",
        "Open": "열기",
        "Close": "닫기",
        "Clear": "비우기",
        "Clear value": "비우기",
        "Send message": "보내기",
        "Stop": "멈추기",
        "Stop generation": "멈추기",
        "Chat message from user": "내가 한 질문",
        "Chat message from assistant": "답변",
        "Upload": "파일 고르기",
        "Browse files": "파일 고르기",
        "file upload": "파일 추가",
        "Add files": "파일 추가",
        "add icon": "추가",
        "Drag and drop files here": "파일을 여기에 놓으세요",
        "Show password text": "글자 보이기",
        "Hide password text": "글자 숨기기",
        "st.iframe": "보고서",
        "Fullscreen": "전체 화면",
        "Close fullscreen": "전체 화면 닫기",
        "Press Enter to submit form": "Enter를 누르면 보냅니다",
        "Press Enter to apply": "Enter를 누르면 적용됩니다",
        "Press ⌘+Enter to submit form": "⌘+Enter를 누르면 보냅니다",
        "Press Ctrl+Enter to submit form": "Ctrl+Enter를 누르면 보냅니다",
    }
)
"""Texts as a whole."""

WITH_A_PART: Mapping[str, str] = MappingProxyType(
    {
        "{} per file": "파일마다 {}까지",
        "Remove {}": "{} 삭제",
        "Help for {}": "{} 도움말",
        "Page {}": "{}쪽",
    }
)
"""Texts around a part that stays."""

# Texts are exchanged only inside of these parts, attributes everywhere but in what the service and its users wrote.
_PARTS = (
    "stFileUploaderDropzone",
    "stFileUploader",
    "stSkipToContent",
    "stSelectboxVirtualDropdown",
    "InputInstructions",
)
_SCRIPT = """<script>(() => {
  const at = globalThis.selfrightWords ??= {};
  Object.assign(at, %s);
  document.documentElement.lang = at.language;
  const parts = at.parts.map(name => `[data-testid=${name}]`).join(), ours = '.selfright, [data-testid=stFileChipName]';
  const names = ['aria-label', 'title', 'placeholder'];
  const told = said => {
    const text = said.trim();
    if (Object.hasOwn(at.whole, text)) return at.whole[text];
    for (const [before, after, start, end] of at.around)
      if (text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after))
        return start + text.slice(before.length, text.length - after.length) + end;
    return said;
  };
  const put = node => {
    if (node.nodeType === Node.TEXT_NODE) {
      const holder = node.parentElement;
      if (!holder || !holder.closest(parts) || holder.closest(ours)) return;
      const said = told(node.data);
      if (said !== node.data) node.data = said;
    } else if (node.nodeType === Node.ELEMENT_NODE && !node.closest(ours)) {
      for (const name of names) {
        const had = node.getAttribute(name), said = had && told(had);
        if (said && said !== had) node.setAttribute(name, said);
      }
      for (const child of node.childNodes) put(child);
    }
  };
  put(document.body);
  at.watch?.disconnect();
  at.watch = new MutationObserver(changes => {
    for (const change of changes) {
      if (change.type === 'childList') change.addedNodes.forEach(put); else put(change.target);
    }
  });
  at.watch.observe(document.body,
    {subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: names});
})()</script>"""


def say_in(language: Language) -> None:
    """Puts Streamlit's own words of the page into ``language``, now and when more of them come."""
    st.html(script(language), unsafe_allow_javascript=True)


def script(language: Language) -> str:
    """The script as an element."""
    korean = language == "ko"
    pairs = [(a.split("{}"), b.split("{}")) for a, b in WITH_A_PART.items()]
    words = {
        "language": language,
        "whole": dict(KOREAN) if korean else {said: english for english, said in KOREAN.items()},
        "around": [[*english, *said] if korean else [*said, *english] for english, said in pairs],
        "parts": _PARTS,
    }
    return _SCRIPT % json.dumps(words, ensure_ascii=False).replace("<", "\\u003c")

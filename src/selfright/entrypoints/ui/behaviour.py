"""What the page does in the browser beyond Streamlit: copying an answer, going to a question, naming rows' buttons."""

import json

import streamlit as st

# Streamlit labels the buttons of all rows alike; a screen reader is told which row each is of.
_ALWAYS = """<script>(() => {
  if (globalThis.selfrightActs) return;
  globalThis.selfrightActs = true;
  const put = async said => {
    try { await navigator.clipboard.writeText(said); return true; } catch { /* not allowed: the old way */ }
    const area = document.createElement('textarea');
    area.value = said;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  };
  document.addEventListener('click', async event => {
    const button = event.target.closest?.('.selfright button.copy');
    if (!button || button.dataset.label) return;
    const done = await put(button.dataset.said);
    button.focus();
    button.dataset.label = button.textContent;
    button.textContent = done ? button.dataset.done : button.dataset.failed;
    setTimeout(() => { button.textContent = button.dataset.label; delete button.dataset.label; }, 2500);
  });
  let waiting = false;
  const name = () => {
    waiting = false;
    for (const row of document.querySelectorAll('[class*="st-key-row-"]')) {
      const of = row.querySelector('[data-row]')?.dataset.row;
      for (const button of of ? row.querySelectorAll('button') : []) {
        const told = `${button.innerText.trim()}: ${of}`;
        if (button.getAttribute('aria-label') !== told) button.setAttribute('aria-label', told);
      }
    }
  };
  new MutationObserver(() => { if (!waiting) { waiting = true; requestAnimationFrame(name); } })
    .observe(document.body, {subtree: true, childList: true, characterData: true});
  name();
})()</script>"""

# Streamlit keeps a chat at its end while an answer grows, so the page goes to the place for three seconds (sixty times)
# after it is there, until the reader moves it or another place is gone to.
_GO = """<script>(() => {
  const mine = globalThis.selfrightGoing = {};
  const moves = ['wheel', 'touchmove', 'pointerdown', 'keydown'];
  const stop = () => {
    if (globalThis.selfrightGoing === mine) globalThis.selfrightGoing = null;
    for (const move of moves) removeEventListener(move, stop, true);
  };
  for (const move of moves) addEventListener(move, stop, {capture: true, passive: true});
  const go = (waits, again) => {
    if (globalThis.selfrightGoing !== mine || !waits || !again) return stop();
    const at = document.getElementById(%s);
    if (at) at.scrollIntoView({block: 'start', behavior: 'instant'});
    setTimeout(() => at ? go(waits, again - 1) : go(waits - 1, again), 50);
  };
  go(40, 60);
})()</script>"""


def act() -> None:
    """Puts what is always needed into the page, once."""
    st.html(_ALWAYS, unsafe_allow_javascript=True)


def go_to(name: str, time: int) -> None:
    """Scrolls to the element of that name; ``time`` is another number each time, so that it is done again."""
    st.html(f"{_GO % json.dumps(name)}<!-- {time} -->", unsafe_allow_javascript=True)

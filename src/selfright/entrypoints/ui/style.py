"""How the page's own markup looks: in the colours of whatever theme is on, on a phone too.

And what the page does in the browser beyond Streamlit: copying an answer, going to a question, naming rows' buttons.
"""

import json

import streamlit as st

# A boat. Streamlit would fetch the picture of an emoji from elsewhere.
ICON = (
    "data:image/svg+xml,"
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Cpath d='M15 3v17H5zM17 7l8 13h-8z' fill='%232773d3'/%3E"
    "%3Cpath d='M3 22h26l-5 7H8z' fill='%23d98200'/%3E%3C/svg%3E"
)

STYLE = """<style>
[data-testid=stMain], [data-testid=stSidebar], [data-testid=stCaptionContainer] p,
[data-testid=stSidebar] label p { word-break: keep-all; overflow-wrap: normal; }
[data-testid=stMainBlockContainer] { padding-top: 4.5rem; }
[data-testid=stMainBlockContainer] h1 { font-size: 1.9rem; padding: .2rem 0; }
[data-testid=stMainBlockContainer] h2, [data-testid=stSidebar] h2 { font-size: 1.2rem; }
.selfright { --line: color-mix(in srgb, currentColor 22%, transparent);
  --soft: color-mix(in srgb, currentColor 7%, transparent); --quiet: color-mix(in srgb, currentColor 72%, transparent);
  --kept: color-mix(in srgb, #f2b600 30%, transparent); --cited: color-mix(in srgb, #f2b600 48%, transparent);
  line-height: 1.6; overflow-wrap: anywhere; word-break: keep-all; }
[data-testid=stMainBlockContainer] .selfright h2 {
  font-size: 1rem; font-weight: 600; margin: 1.1rem 0 .3rem; padding: 0; letter-spacing: 0; }
.selfright h3 { font-size: .9rem; font-weight: 600; margin: .8rem 0 .2rem; padding: 0; letter-spacing: 0; }
.selfright p { margin: .3rem 0; } .selfright .quiet { color: var(--quiet); font-size: .875rem; }
.selfright ul, .selfright ol { margin: .2rem 0; padding-left: 1.4rem !important; }
.selfright li { margin: .15rem 0; }
.selfright .prose { white-space: pre-wrap; } .selfright .prose pre { overflow-x: auto; padding: .6rem;
  background: var(--soft); border-radius: .4rem; }
.selfright code { font-size: .82em; background: var(--soft); color: inherit; padding: .1em .3em; border-radius: .25em; }
.selfright a { color: inherit; text-decoration: underline; }
.selfright a.cite { font-weight: 600; white-space: nowrap; padding: 0 .1em; }
.selfright a:focus-visible, .selfright summary:focus-visible, .selfright .wide:focus-visible,
.selfright .inner:focus-visible {
  outline: 3px solid #2f7fe0; outline-offset: 2px; border-radius: .2rem; }
.selfright .notice { border: 1px solid var(--line); border-left: .35rem solid currentColor; border-radius: .3rem;
  background: var(--soft); padding: .5rem .8rem; margin: .2rem 0 .7rem; }
.selfright .notice.abstained { border-left-color: #8a63d2; } .selfright .notice.degraded { border-left-color: #d98200; }
.selfright .notice.weak { border-left-color: #d98200; }
.selfright.weak .answer { border-left: .2rem solid #d98200; padding-left: .8rem; }
.selfright .notice.failed { border-left-color: #d64545; }
.selfright del { opacity: .8; }
.selfright details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; padding: 0 .8rem; }
.selfright details[open] { padding-bottom: .6rem; }
.selfright .inner { max-height: min(55vh, 34rem); overflow-y: auto; }
.selfright summary { cursor: pointer; padding: .55rem 0; font-weight: 500; }
.selfright .number { font-weight: 700; margin-right: .15rem; }
.selfright .window { max-height: min(45vh, 24rem); overflow-y: auto; }
.selfright .window:focus-visible, .selfright button.copy:focus-visible {
  outline: 3px solid #2f7fe0; outline-offset: 2px; }
.selfright .passage { white-space: pre-wrap; margin-top: .4rem; }
.selfright .passage.rendered { white-space: normal; } .selfright .rendered p { margin: .3rem 0 .6rem; }
.selfright .rendered .heading { font-weight: 600; margin: .5rem 0 .2rem; }
.selfright .rendered pre { overflow-x: auto; padding: .5rem; background: var(--soft); border-radius: .4rem; }
.selfright .rendered blockquote { margin: .3rem 0; padding-left: .8rem; border-left: .2rem solid var(--line); }
.selfright .rendered table { display: block; overflow-x: auto; width: max-content; max-width: 100%; }
.selfright .rendered .link { text-decoration: underline dotted; } .selfright .rendered .picture { font-style: italic; }
.selfright .urgent { border: 3px solid #c62828; border-radius: .5rem; padding: .8rem 1rem; margin: .2rem 0 1rem;
  background: color-mix(in srgb, #c62828 14%, transparent); font-size: 1.1rem; font-weight: 600; }
.selfright .urgent strong { display: block; font-size: 1.25rem; margin-bottom: .2rem; }
.selfright .notice.uncovered { border-left-color: #d98200; }
.selfright .in-short { margin-top: .6rem; }
.selfright button.copy { font: inherit; font-size: .875rem; color: inherit; background: none; cursor: pointer;
  border: 1px solid var(--line); border-radius: .5rem; padding: .25rem .75rem; min-height: 2rem; }
.selfright button.copy:hover { background: var(--soft); }
.selfright.document { line-height: 1.45; } .selfright.document > * { display: block; }
[class*=st-key-row-] > div:first-child { flex: 1 1 12rem; min-width: 0; }
.selfright.question { scroll-margin-top: 5rem; }
.selfright.live { min-height: 55vh; }
@media (min-width: 64rem) {
  .selfright .sides { display: grid; grid-template-columns: minmax(0, 7fr) minmax(0, 6fr); gap: 1.6rem;
    align-items: start; }
  .selfright .beside { border-left: 1px solid var(--line); padding-left: 1.2rem; position: sticky; top: 4.5rem;
    max-height: calc(100vh - 12rem); overflow-y: auto; }
  .selfright .beside h2:first-child { margin-top: 0; } }
.selfright .left-out { color: var(--quiet); }
.selfright mark { background: var(--kept); color: inherit; padding: .05em 0; border-radius: .15em; }
.selfright mark.cited { background: var(--cited); outline: 1px solid color-mix(in srgb, #b37400 80%, currentColor);
  padding: .05em .15em; }
.selfright a.back { font-weight: 700; font-size: .8em; margin-right: .25em; scroll-margin: 30vh 0; }
.selfright a.back:target { outline: 3px solid #2f7fe0; outline-offset: 2px; }
.selfright .answer { scroll-margin: 20vh 0; }
.selfright dl { padding: 0 !important; margin: .5rem 0; display: grid;
  grid-template-columns: minmax(7rem, max-content) 1fr; gap: .2rem 1rem; }
.selfright dt { color: var(--quiet); font-weight: 400; } .selfright dd { margin: 0; }
.selfright figure { margin: .4rem 0; } .selfright figcaption { color: var(--quiet); font-size: .8rem; }
.selfright .plot { display: flex; max-width: 30rem; }
.selfright .column { flex: 1; max-width: 5.5rem; display: flex; flex-direction: column; align-items: center;
  font-size: .8rem; } .selfright .column i { font-style: normal; color: var(--quiet); padding-top: .2rem; }
.selfright .track { height: 8rem; width: 100%; display: flex; flex-direction: column; justify-content: flex-end;
  align-items: center; border-bottom: 2px solid var(--line); }
.selfright .bar { width: 60%; min-height: 2px; background: #2f7fe0; border-radius: .2rem .2rem 0 0; }
.selfright .wide { overflow-x: auto; } .selfright table { border-collapse: collapse; font-size: .875rem; width: 100%; }
.selfright caption { text-align: left; color: var(--quiet); padding: .2rem 0; }
.selfright.listed caption, .selfright .listed caption {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.selfright th, .selfright td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border: 0;
  border-bottom: 1px solid var(--line); word-break: keep-all; overflow-wrap: normal; font-weight: 400; }
.selfright.study td { white-space: nowrap; }
.selfright .scores tbody th, .selfright.study tbody th { white-space: nowrap; }
.selfright thead th { color: var(--quiet); white-space: nowrap; }
.selfright .path li { padding-left: .2rem; }
.selfright .stopped { display: none; }
[data-test-script-state=notRunning] .selfright .stopped { display: block; }
[data-test-script-state=notRunning] .selfright .working { display: none; }
@media (max-width: 40rem) {
  .selfright dl { grid-template-columns: 1fr; gap: 0; } .selfright dd { margin-bottom: .4rem; }
  .selfright table { overflow-wrap: normal; } .selfright th, .selfright td { white-space: nowrap; }
  .selfright td:last-child { white-space: normal; min-width: 11rem; }
  .selfright details { padding: 0 .6rem; } }
@media (prefers-reduced-motion: no-preference) {
  .selfright.live [role=status] { animation: selfright-wait 1.6s infinite; }
  @keyframes selfright-wait { 50% { opacity: .45; } } }
</style>"""

WIDE = "<style>[data-testid=stMainBlockContainer] { max-width: 84rem; }</style>"
NARROW = "<style>[data-testid=stMainBlockContainer] { max-width: 56rem; }</style>"
"""How wide a page may be: the chat has sources beside its answers."""

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

(() => {
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
  let waiting = false, opened = null, opener = null;
  const enter = () => {
    const open = document.querySelector('[data-testid=stPopoverBody]');
    if (open && open !== opened) {
      opener = document.activeElement;
      open.tabIndex = -1;
      open.focus();
    } else if (opened && !open && document.activeElement === document.body) opener.focus();
    opened = open;
  };
  const name = () => {
    waiting = false;
    enter();
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
})()

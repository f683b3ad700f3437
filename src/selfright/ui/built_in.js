(() => {
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
})()

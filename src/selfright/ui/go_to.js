(() => {
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
})()

/**
 * Runs an action at most once per frame, however often it is asked for.
 */
export function oncePerFrame(action: (now: number) => void): { ask: () => void; cancel: () => void } {
  let asked = 0;
  return {
    ask() {
      if (asked === 0)
        asked = requestAnimationFrame((now) => {
          asked = 0;
          action(now);
        });
    },
    cancel() {
      cancelAnimationFrame(asked);
      asked = 0;
    },
  };
}

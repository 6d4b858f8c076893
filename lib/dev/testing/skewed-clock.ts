/**
 * Returns the URL of a module that shifts the clock of the process that imports it: `Date` then
 * returns a time that is `aheadMs` ahead.
 */
export const skewedClock = (aheadMs: number): string => {
  const source = `
    const RightDate = globalThis.Date;
    globalThis.Date = class Date extends RightDate {
      constructor(...parts) {
        if (parts.length === 0) super(RightDate.now() + ${String(aheadMs)});
        else super(...parts);
      }
      static now() {
        return RightDate.now() + ${String(aheadMs)};
      }
    };`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
};

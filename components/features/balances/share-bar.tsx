import type { ReactNode } from "react";

const PERCENT_BPS = 100;

/** 1250 → `12.5 %`, 3 → `< 0.1 %`. */
const shareText = (bps: number): string => {
  if (bps > 0 && bps < PERCENT_BPS / 10) return "< 0.1 %";
  const tenths = Math.floor((bps * 10) / PERCENT_BPS);
  return `${String(tenths / 10)} %`;
};

/** How much of the whole it is: as a bar, and in words. */
export const ShareBar = ({ bps }: { readonly bps: number | null }): ReactNode =>
  bps === null ? (
    <span className="text-sm text-fg-3">no price</span>
  ) : (
    <span className="flex items-center justify-end gap-2">
      <span aria-hidden className="h-1.5 w-20 overflow-hidden rounded-tag bg-border max-md:w-12">
        <span className="block h-full min-w-px bg-accent" style={{ width: `${String(bps / PERCENT_BPS)}%` }} />
      </span>
      <span className="num w-14 text-right text-sm text-fg-2">{shareText(bps)}</span>
    </span>
  );

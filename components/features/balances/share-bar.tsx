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
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" className="h-1.5 w-20 max-md:w-12" aria-hidden>
        <rect width={100} height={6} className="fill-border" />
        <rect width={Math.max(1, bps / PERCENT_BPS)} height={6} className="fill-accent" />
      </svg>
      <span className="num w-14 text-right text-sm text-fg-2">{shareText(bps)}</span>
    </span>
  );

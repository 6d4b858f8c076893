"use client";

import type { ReactNode } from "react";
import { Unknown } from "@/components/ui/amount";
import { useLocale } from "@/components/ui/use-locale";
import { shareText } from "@/lib/core/amount-text";

const TENTHS_PER_PERCENT = 10;

interface ShareBarProps {
  /** In tenths of a per cent; null where no price is known. */
  readonly tenths: number | null;
  /** Whether there is anything at all: a share of next to nothing is not nothing. */
  readonly isSomething: boolean;
}

/** How much of the whole it is: as a bar, and in words. */
export const ShareBar = ({ tenths, isSomething }: ShareBarProps): ReactNode => {
  const locale = useLocale();
  if (tenths === null) return <Unknown reason="No price is known" />;
  return (
    <span className="flex items-center justify-end gap-2">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" className="h-1.5 w-20 @max-[44rem]:w-12" aria-hidden>
        <rect width={100} height={6} className="fill-border" />
        <rect width={Math.max(1, tenths / TENTHS_PER_PERCENT)} height={6} className="fill-accent" />
      </svg>
      <span className="num w-14 text-right text-sm text-fg-2">{shareText(tenths, isSomething, locale)}</span>
    </span>
  );
};

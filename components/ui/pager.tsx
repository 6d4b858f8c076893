import type { ReactNode } from "react";
import { Button } from "./button";

interface PagerProps {
  /** Of the page that is shown; null for the newest. */
  readonly cursor: string | null;
  /** Of the page after it; null or undefined where there is none. */
  readonly nextCursor: string | null | undefined;
  readonly onCursor: (cursor: string | null) => void;
}

/** The foot of a list that is read page by page, newest first. Nothing where all of it is on one page. */
export const Pager = ({ cursor, nextCursor, onCursor }: PagerProps): ReactNode =>
  nextCursor == null && cursor === null ? null : (
    <div className="flex justify-end gap-2 border-t px-4 py-2">
      <Button size="sm" disabled={cursor === null} onClick={() => onCursor(null)}>
        Newest
      </Button>
      <Button size="sm" disabled={nextCursor == null} onClick={() => onCursor(nextCursor ?? null)}>
        Older
      </Button>
    </div>
  );

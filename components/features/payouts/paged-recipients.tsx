"use client";

import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { countText } from "@/lib/core/amount-text";

const ROWS_SHOWN = 50;

interface PagedRecipientsProps<Row> {
  readonly rows: readonly Row[];
  /** Draws one row, as a `RecipientItem` with a key. */
  readonly children: (row: Row, index: number) => ReactNode;
}

/** Every recipient of a payout, a page at a time. */
export const PagedRecipients = <Row,>({ rows, children }: PagedRecipientsProps<Row>): ReactNode => {
  const [shown, setShown] = useState(ROWS_SHOWN);
  return (
    <>
      <ol className="divide-y">{rows.slice(0, shown).map(children)}</ol>
      {shown < rows.length ? (
        <div className="flex justify-center border-t py-2">
          <Button size="sm" onClick={() => setShown(shown + ROWS_SHOWN)}>
            Show more ({countText(rows.length - shown)} left)
          </Button>
        </div>
      ) : null}
    </>
  );
};

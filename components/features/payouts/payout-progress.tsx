"use client";

import { Progress } from "radix-ui";
import type { ReactNode } from "react";
import type { Payout } from "./payout";

const PERCENT = 100;

const shareOf = (count: number, total: number): string => `${String(total === 0 ? 0 : (count / total) * PERCENT)}%`;

const rows = (count: number): string => count.toLocaleString("en");

/** `812 of 1,000 rows paid, 3 failed, 185 to go.` */
export const progressSentence = ({ status, items }: Pick<Payout, "status" | "items">): string => {
  const of = items.total === 1 ? "1 row" : `${rows(items.total)} rows`;
  if (status === "pending") return `${of} to pay once it is approved.`;
  if (status === "cancelled") return `Cancelled: none of ${of} was paid.`;
  if (status === "expired") return `Not approved in time: none of ${of} was paid.`;
  const parts = [
    `${rows(items.completed)} of ${of} paid`,
    ...(items.failed === 0 ? [] : [`${rows(items.failed)} failed`]),
    ...(items.pending === 0 ? [] : [`${rows(items.pending)} to go`]),
  ];
  return `${parts.join(", ")}.`;
};

export const PayoutProgress = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { items } = payout;
  const sentence = progressSentence(payout);
  return (
    <>
      <p className="text-lg font-medium" role="status">
        {sentence}
      </p>
      <Progress.Root
        value={items.completed + items.failed}
        max={Math.max(1, items.total)}
        aria-label="Rows that are settled"
        getValueLabel={() => sentence}
        className="mt-2 flex h-2 overflow-hidden rounded-tag bg-sunken outline outline-border"
      >
        <Progress.Indicator
          className="bg-success transition-[width] duration-150"
          style={{ width: shareOf(items.completed, items.total) }}
        />
        <span
          aria-hidden
          className="bg-danger transition-[width] duration-150"
          style={{ width: shareOf(items.failed, items.total) }}
        />
      </Progress.Root>
    </>
  );
};

"use client";

import type { ReactNode } from "react";
import { useKnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { countText } from "@/lib/core/amount-text";
import type { Schedule } from "../payout";
import { RecipientItem, WalletRecipient } from "../recipient-item";
import { useScheduleRows } from "./use-schedules";

const LOADING_ROWS_MAX = 6;

/** Whom each run pays: every row with its whole address, the recipient's name and the amount, a page at a time. */
export const ScheduleRows = ({ schedule }: { readonly schedule: Schedule }): ReactNode => {
  const list = useScheduleRows(schedule.scheduleId);
  const { known } = useKnownAddresses();
  const rows = list.data?.pages.flatMap((page) => page.data);
  if (rows === undefined)
    return list.isPending ? (
      <LoadingRows what="the rows" rows={Math.min(schedule.rows, LOADING_ROWS_MAX)} />
    ) : (
      <ErrorState compact error={list.error} money="No run pays before approval." onRetry={() => void list.refetch()} />
    );
  return (
    <>
      <ol aria-label="Recipients of each run" className="divide-y">
        {rows.map(({ index, address, amount, token, reference, note }) => (
          <RecipientItem
            key={index}
            who={<WalletRecipient address={address} known={known} />}
            amount={amount}
            unit={token.symbol}
            reference={reference ?? note}
          />
        ))}
      </ol>
      {list.hasNextPage ? (
        <div className="flex justify-center border-t py-2">
          <Button size="sm" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show more ({countText(schedule.rows - rows.length)} left)
          </Button>
        </div>
      ) : null}
    </>
  );
};

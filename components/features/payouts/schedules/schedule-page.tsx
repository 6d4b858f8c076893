"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Ban, KeyRound } from "lucide-react";
import Link from "next/link";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { parseAsBoolean, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { ApprovalDialog } from "@/components/features/money-flow/approval-dialog";
import { RawJson } from "@/components/features/operations/raw-json";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { PublicId } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { ChainName } from "@/components/ui/chain-name";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Fact, Facts, Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import {
  approvePayoutSchedule,
  cancelPayoutSchedule,
  getPayoutSchedule,
  listPayoutSchedules,
} from "@/lib/api-client/calls.gen";
import { countText } from "@/lib/core/amount-text";
import { Actor } from "@/components/features/names/actor";
import type { Schedule } from "../payout";
import { ScheduleRows } from "./schedule-rows";
import { ScheduleRuns } from "./schedule-runs";
import { periodText, ScheduleStatus, ZonedTime } from "./schedule-views";
import { useSchedule } from "./use-schedules";

const MONEY = "The schedule continues without this page.";

export const SchedulePage = ({ scheduleId }: { readonly scheduleId: string }): ReactNode => {
  const query = useSchedule(scheduleId);
  const schedule = query.data;
  return (
    <>
      <PageHeader
        title={schedule?.reference ?? "Payout schedule"}
        description={
          <span className="inline-flex flex-wrap items-center gap-2">
            <PublicId value={scheduleId} />{" "}
            {schedule === undefined ? null : <ScheduleStatus status={schedule.status} />}
          </span>
        }
        actions={
          <>
            <Link href="/payouts/schedules" className={buttonLooks()}>
              All schedules
            </Link>
            {schedule === undefined ? null : <Actions schedule={schedule} />}
          </>
        }
      />
      {schedule !== undefined ? (
        <div className="flex flex-col gap-4">
          <p className="text-fg-2">{schedule.nextAction}</p>
          <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,1fr)_24rem]">
            <div className="flex min-w-0 flex-col gap-4">
              {/* Before the approval the recipients are the question, and there is no run to show. */}
              {schedule.status === "awaiting_approval" ? null : <ScheduleRuns schedule={schedule} />}
              <Card title="Recipients of each run" flush>
                <ScheduleRows schedule={schedule} />
              </Card>
            </div>
            <Card title="Each run">
              <ScheduleFacts schedule={schedule} />
            </Card>
          </div>
          <RawJson value={schedule} />
          <ApiSnippet method="GET" path={`/payouts/schedules/${schedule.scheduleId}`} />
        </div>
      ) : (
        <Card flush>
          {query.isPending ? (
            <LoadingRows what="the schedule" rows={6} />
          ) : (
            <ErrorState error={query.error} money={MONEY} onRetry={() => void query.refetch()} />
          )}
        </Card>
      )}
    </>
  );
};

const ScheduleFacts = ({ schedule }: { readonly schedule: Schedule }): ReactNode => {
  const { timeZone } = schedule;
  return (
    <Facts className="-my-2">
      {schedule.totals.map(({ token, amount }) => (
        <Fact key={token.address} label="You send" strong>
          <Amount value={amount} unit={token.symbol} />
        </Fact>
      ))}
      <Fact label="To">{schedule.rows === 1 ? "1 row" : `${countText(schedule.rows)} rows`}</Fact>
      <Fact label="Chain">
        <ChainName chainId={schedule.chainId} />
      </Fact>
      <Fact label="Repeats">{periodText(schedule)}</Fact>
      <Fact label="Starts">
        <ZonedTime value={schedule.startsAt} timeZone={timeZone} />
      </Fact>
      {schedule.endsAt === null ? null : (
        <Fact label="Ends">
          <ZonedTime value={schedule.endsAt} timeZone={timeZone} />
        </Fact>
      )}
      {schedule.nextRunAt === null ? null : (
        <Fact label="Next run">
          <ZonedTime value={schedule.nextRunAt} timeZone={timeZone} />
        </Fact>
      )}
      <Fact label="Created by">
        <Actor id={schedule.createdBy} />
      </Fact>
    </Facts>
  );
};

const useTakeOver = (): ((schedule: Schedule) => void) => {
  const queryClient = useQueryClient();
  return (schedule) => {
    queryClient.setQueryData(queryKeyOf(getPayoutSchedule, { params: { id: schedule.scheduleId } }), schedule);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayoutSchedules) });
  };
};

const Actions = ({ schedule }: { readonly schedule: Schedule }): ReactNode => {
  const [approving, setApproving] = useQueryState("approve", parseAsBoolean.withDefault(false));
  const [cancelling, setCancelling] = useState(false);
  const takeOver = useTakeOver();
  const approval = useSentOnce(approvePayoutSchedule);
  const cancellation = useSentOnce(cancelPayoutSchedule);
  const params = { id: schedule.scheduleId };
  const waits = schedule.status === "awaiting_approval";
  const setOpen = (open: boolean): void => void setApproving(open ? true : null, { history: "replace" });
  return (
    <>
      {waits || schedule.status === "active" ? (
        <Button onClick={() => setCancelling(true)}>
          <Ban aria-hidden /> Cancel the schedule
        </Button>
      ) : null}
      {waits ? (
        <Button variant="primary" onClick={() => setOpen(true)}>
          <KeyRound aria-hidden /> Approve …
        </Button>
      ) : null}
      <ApprovalDialog
        open={approving && waits}
        onOpenChange={setOpen}
        title="Approve the schedule"
        description="The code approves each run of exactly these rows at these times."
        subject={{ scheduleId: schedule.scheduleId }}
        money="Nothing was paid."
        approval={approval.mutation}
        onApprove={async (proof) => {
          takeOver(await approval.send({ params, body: proof }));
          setOpen(false);
          toast.success("Approved. It runs at its times.");
        }}
      >
        <ScheduleFacts schedule={schedule} />
        <section
          aria-label="Recipients"
          tabIndex={0}
          className="max-h-[min(18rem,40dvh)] overflow-y-auto rounded-card border"
        >
          <ScheduleRows schedule={schedule} />
        </section>
      </ApprovalDialog>
      <ConfirmDialog
        open={cancelling}
        onOpenChange={setCancelling}
        title="Cancel this schedule?"
        description={
          <>
            <p>There are no more runs. A payout that has started continues. This cannot be undone.</p>
            {cancellation.mutation.error === null ? null : (
              <ErrorState compact error={cancellation.mutation.error} money={MONEY} />
            )}
          </>
        }
        confirmLabel="Cancel the schedule"
        cancelLabel="Keep it"
        onConfirm={async () => {
          takeOver(await cancellation.send({ params }));
          toast.success("Cancelled. There are no more runs.");
        }}
      />
    </>
  );
};

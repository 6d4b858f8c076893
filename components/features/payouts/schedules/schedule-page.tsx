"use client";

import { ApprovalAdvice } from "@/components/features/inbox/decision";
import { CalendarClock } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { shortId } from "@/components/features/global-accounts/account";
import { actText } from "@/components/features/money-flow/act-text";
import { ApproveAction, CancelAction } from "@/components/features/money-flow/approval-dialog";
import { Actor } from "@/components/features/names/names";
import { RawJson } from "@/components/features/operations/raw-json";
import { SuspendedNotice } from "@/components/features/session-made/made-things";
import { useSentOnce, useCache } from "@/components/features/session/use-api";
import { useKnownAddresses } from "@/components/features/transfer/recipient";
import { PublicId } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card, Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { EmptyState, joinQueries, QueryContent, QueryPanel } from "@/components/ui/states";
import { PageHeader } from "@/components/ui/page-header";
import { Shortened } from "@/components/ui/shortened";
import { type Column, Table } from "@/components/ui/table";
import {
  approvePayoutSchedule,
  cancelPayoutSchedule,
  listPayoutSchedules,
  getPayoutSchedule,
} from "@/lib/api-client/calls.gen";
import { counted } from "../new/amount-rules";
import type { Schedule } from "../payout";
import { RecipientItem, ShowMore, WalletRecipient } from "../recipient-item";
import { RowWarnings } from "../row-warnings";
import {
  periodText,
  RunStatus,
  ScheduleStatus,
  useSchedule,
  useScheduleRows,
  ZonedTime,
  scheduleQuery,
} from "./schedule-views";

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
            {schedule === undefined ? null : <ScheduleStatus schedule={schedule} />}
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
      <QueryPanel query={query} what="the schedule" rows={6} money={MONEY}>
        {(schedule) => (
          <div className="flex flex-col gap-4">
            {isSuspended(schedule) ? (
              <SuspendedNotice
                thing={{ kind: "payout_schedule", id: schedule.id }}
                suspendedAt={schedule.suspendedAt}
              >
                It can be approved once you restore it. Nothing is paid before.
              </SuspendedNotice>
            ) : (
              <p className="text-fg-2">
                {schedule.status === "awaiting_approval" ? (
                  <>
                    <ApprovalAdvice subjectId={schedule.id} isVotedOn={false} /> Nothing is paid
                    before.
                  </>
                ) : (
                  schedule.nextAction
                )}
              </p>
            )}
            <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,1fr)_24rem]">
              <div className="flex min-w-0 flex-col gap-4">
                {/* A schedule that waits for approval has no runs. */}
                {schedule.status === "awaiting_approval" ? null : (
                  <ScheduleRuns schedule={schedule} />
                )}
                <Card title="Recipients of each run" flush>
                  <ScheduleRows schedule={schedule} />
                </Card>
              </div>
              <Card title="Each run">
                <ScheduleFacts schedule={schedule} />
              </Card>
            </div>
            <RawJson value={schedule} />
            <ApiSnippet call={getPayoutSchedule} params={{ id: schedule.id }} />
          </div>
        )}
      </QueryPanel>
    </>
  );
};

const isSuspended = ({ status, suspendedAt }: Schedule): boolean =>
  status === "awaiting_approval" && suspendedAt !== null;

const ScheduleFacts = ({ schedule }: { readonly schedule: Schedule }): ReactNode => {
  const { timeZone } = schedule;
  return (
    <Facts className="-my-2">
      {schedule.totals.map(({ token, amount }) => (
        <Fact key={token.address} label="You send" strong>
          <Amount value={amount} unit={token.symbol} />
        </Fact>
      ))}
      <Fact label="To">{counted(schedule.rows, "row")}</Fact>
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
  const cache = useCache();
  return (schedule) => {
    cache.set(scheduleQuery(schedule.id), schedule);
    void cache.refresh(listPayoutSchedules);
  };
};

const Actions = ({ schedule }: { readonly schedule: Schedule }): ReactNode => {
  const takeOver = useTakeOver();
  const approval = useSentOnce(approvePayoutSchedule);
  const cancellation = useSentOnce(cancelPayoutSchedule);
  const params = { id: schedule.id };
  return (
    <>
      {schedule.status === "awaiting_approval" || schedule.status === "active" ? (
        <CancelAction
          title="Cancel this schedule?"
          text="There are no more runs. A payout that has started continues. This cannot be undone."
          action={cancellation.mutation}
          money={MONEY}
          confirmLabel="Cancel the schedule"
          cancel={async () => takeOver(await cancellation.send({ params }))}
          done="Cancelled. There are no more runs."
        />
      ) : null}
      <ApproveAction
        mayApprove={schedule.status === "awaiting_approval" && !isSuspended(schedule)}
        noun="schedule"
        warnings={schedule.warnings}
        act={actText(
          `Schedule ${counted(schedule.rows, "payment")},`,
          schedule.totals.map(({ token, amount }) => ({ amount, symbol: token.symbol })),
        )}
        description="Approving allows each run of exactly these rows at these times."
        subject={{ scheduleId: schedule.id }}
        money="Nothing was paid."
        approval={approval.mutation}
        onApprove={async (proof) => takeOver(await approval.send({ params, body: proof }))}
        done="Approved. It runs at its times."
      >
        <RowWarnings warnings={schedule.warnings} />
        <ScheduleFacts schedule={schedule} />
        <section
          aria-label="Recipients"
          tabIndex={0}
          className="max-h-[min(18rem,40dvh)] overflow-y-auto rounded-card border"
        >
          <ScheduleRows schedule={schedule} />
        </section>
      </ApproveAction>
    </>
  );
};

const LOADING_ROWS_MAX = 6;

const ScheduleRows = ({ schedule }: { readonly schedule: Schedule }): ReactNode => {
  const list = useScheduleRows(schedule.id);
  const { known } = useKnownAddresses(schedule.chainId);
  const rows = list.data?.pages.flatMap((page) => page.data);
  return (
    <QueryContent
      query={joinQueries([list], rows)}
      what="the rows"
      rows={Math.min(schedule.rows, LOADING_ROWS_MAX)}
      compact
      money="No run pays before approval."
    >
      {(rows) => (
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
            <ShowMore
              left={schedule.rows - rows.length}
              loading={list.isFetchingNextPage}
              onMore={() => void list.fetchNextPage()}
            />
          ) : null}
        </>
      )}
    </QueryContent>
  );
};

type Run = Schedule["runs"][number];

const columnsFor = (timeZone: string): readonly Column<Run>[] => [
  {
    id: "at",
    header: "Planned for",
    phone: "title",
    cell: ({ scheduledAt }) => <ZonedTime value={scheduledAt} timeZone={timeZone} />,
  },
  { id: "status", header: "State", cell: ({ status }) => <RunStatus status={status} /> },
  {
    id: "payout",
    header: "Payout or reason",
    grow: true,
    cell: ({ payoutId, failure }) =>
      payoutId !== null ? (
        <Link href={`/payouts/${payoutId}`} className="link font-mono text-sm" title={payoutId}>
          {shortId(payoutId)}
        </Link>
      ) : (
        <Shortened className="block text-fg-2">
          {failure?.message ?? "The service was not running in time."}
        </Shortened>
      ),
  },
];

const ScheduleRuns = ({ schedule }: { readonly schedule: Schedule }): ReactNode => {
  const unpaid = schedule.runs.filter(({ status }) => status !== "started").length;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {unpaid === 0 ? null : (
        <Alert tone="warning" title={`${counted(unpaid, "run")} did not pay`}>
          Runs that were missed or refused are never paid later automatically. Create a payout
          for them if they are still due.
        </Alert>
      )}
      <Card title="Runs" flush>
        {schedule.runs.length === 0 ? (
          <EmptyState icon={CalendarClock} title="No run yet" />
        ) : (
          <Table
            caption="Runs"
            columns={columnsFor(schedule.timeZone)}
            rows={schedule.runs}
            rowKey={({ scheduledAt }) => scheduledAt}
          />
        )}
      </Card>
    </div>
  );
};

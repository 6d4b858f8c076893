"use client";

import { CalendarClock, Plus } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { PagedCard } from "@/components/features/session/paged-card";
import { Amount } from "@/components/ui/amount";
import { buttonLooks } from "@/components/ui/button-looks";
import { EmptyState } from "@/components/ui/states";
import { PageHeader } from "@/components/ui/page-header";
import { type Column, RowLink, Table } from "@/components/ui/table";
import { listPayoutSchedules } from "@/lib/api-client/calls.gen";
import type { Schedule } from "../payout";
import { periodText, ScheduleStatus, useScheduleList, ZonedTime } from "./schedule-views";

const NEW_LINK = (
  <Link href="/payouts/new" className={buttonLooks({ variant: "primary" })}>
    <Plus aria-hidden /> New payout
  </Link>
);

const Unpaid = ({ runs }: Pick<Schedule, "runs">): ReactNode => {
  const count = runs.filter(({ status }) => status !== "started").length;
  return count === 0 ? (
    <span className="text-fg-3">none</span>
  ) : (
    <span className="font-medium text-warning">{count} missed or refused</span>
  );
};

const COLUMNS: readonly Column<Schedule>[] = [
  {
    id: "reference",
    header: "Schedule",
    phone: "title",
    cell: (schedule) => (
      <RowLink href={`/payouts/schedules/${schedule.id}`}>
        {schedule.reference ?? periodText(schedule)}
      </RowLink>
    ),
  },
  { id: "every", header: "Repeats", bare: true, priority: "medium", cell: periodText },
  {
    id: "next",
    header: "Next run",
    bare: true,
    cell: ({ nextRunAt, timeZone }) =>
      nextRunAt === null ? (
        <span className="text-fg-3">–</span>
      ) : (
        <ZonedTime value={nextRunAt} timeZone={timeZone} />
      ),
  },
  {
    id: "total",
    header: "Each run",
    align: "right",
    cell: ({ totals: [first, ...more] }) =>
      first === undefined ? null : (
        <>
          <Amount value={first.amount} unit={first.token.symbol} plain />
          {more.length === 0 ? null : (
            <span className="ml-1 text-sm text-fg-3">+ {more.length} more</span>
          )}
        </>
      ),
  },
  {
    id: "unpaid",
    header: "Runs not paid",
    phone: "hidden",
    priority: "low",
    cell: ({ runs }) => <Unpaid runs={runs} />,
  },
  {
    id: "status",
    header: "Status",
    phone: "aside",
    cell: (schedule) => <ScheduleStatus schedule={schedule} />,
  },
];

export const Schedules = (): ReactNode => (
  <>
    <PageHeader
      title="Payout schedules"
      description="Payouts that run later, or again and again. Each run is checked afresh."
      actions={
        <>
          <Link href="/payouts" className={buttonLooks()}>
            All payouts
          </Link>
          {NEW_LINK}
        </>
      }
    />
    <div className="flex flex-col gap-4">
      <PagedCard
        list={useScheduleList()}
        what="schedules"
        money="Schedules go on without this page."
        empty={
          <EmptyState icon={CalendarClock} title="No schedules yet" action={NEW_LINK}>
            Create a payout to wallets and choose &ldquo;Pay later or repeatedly&rdquo;.
          </EmptyState>
        }
      >
        {(schedules) => (
          <Table
            caption="Schedules"
            columns={COLUMNS}
            rows={schedules}
            rowKey={({ id }) => id}
          />
        )}
      </PagedCard>
      <ApiSnippet call={listPayoutSchedules} />
    </div>
  </>
);

"use client";

import { CalendarClock } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { shortId } from "@/components/features/global-accounts/account";
import { Alert } from "@/components/ui/alert";
import { EmptyState } from "@/components/ui/empty-state";
import { Card } from "@/components/ui/card";
import { Table, type Column } from "@/components/ui/table";
import type { Schedule } from "../payout";
import { RunStatus, ZonedTime } from "./schedule-views";

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
    cell: ({ payoutId, failure }) =>
      payoutId !== null ? (
        <Link href={`/payouts/${payoutId}`} className="link font-mono text-sm" title={payoutId}>
          {shortId(payoutId)}
        </Link>
      ) : (
        <span className="text-fg-2">{failure?.message ?? "The service was not running in time."}</span>
      ),
  },
];

/** The latest runs, and whether some of them paid nobody. */
export const ScheduleRuns = ({ schedule }: { readonly schedule: Schedule }): ReactNode => {
  const unpaid = schedule.runs.filter(({ status }) => status !== "started").length;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {unpaid === 0 ? null : (
        <Alert tone="warning" title={`${unpaid === 1 ? "1 run" : `${String(unpaid)} runs`} did not pay`}>
          Runs that were missed or refused are never paid later automatically. Create a payout for them if they are
          still due.
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

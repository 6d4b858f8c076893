"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import {
  Ban,
  CalendarCheck,
  CircleCheck,
  CirclePause,
  CircleX,
  ClockAlert,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";
import { apiPages, apiQuery, PAGE_ROWS } from "@/components/features/session/api-query";
import { useLiveQuery } from "@/components/features/session/use-api";
import { type Pages, usePages } from "@/components/features/session/use-lists";
import { Badge, type Tone } from "@/components/ui/badge";
import { hoursOf, PAGE_LANGUAGE } from "@/components/ui/time";
import { useLocale } from "@/components/ui/use-locale";
import {
  getPayoutSchedule,
  listPayoutScheduleItems,
  listPayoutSchedules,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { PERIOD_WORDS } from "../new/schedule-values";
import type { Schedule } from "../payout";

interface View {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
}

const STATUS_VIEWS = {
  awaiting_approval: { word: "Waiting for approval", tone: "warning", icon: CirclePause },
  active: { word: "Active", tone: "success", icon: CalendarCheck },
  ended: { word: "Ended", tone: "neutral", icon: CircleCheck },
  cancelled: { word: "Cancelled", tone: "neutral", icon: Ban },
} as const satisfies Record<Schedule["status"], View>;

/**
 * Word, tone and icon of each state of a run. A missed run is never paid later, so it has a warning
 * as a refused run has.
 */
const RUN_VIEWS = {
  started: { word: "Started", tone: "success", icon: CircleCheck },
  missed: { word: "Missed, not paid", tone: "warning", icon: ClockAlert },
  refused: { word: "Refused, not paid", tone: "danger", icon: CircleX },
} as const satisfies Record<Schedule["runs"][number]["status"], View>;

const ViewBadge = ({ view }: { readonly view: View }): ReactNode => (
  <Badge tone={view.tone} icon={view.icon}>
    {view.word}
  </Badge>
);

const SUSPENDED: View = { word: "Suspended", tone: "warning", icon: CirclePause };

export const ScheduleStatus = ({
  schedule: { status, suspendedAt },
}: {
  readonly schedule: Pick<Schedule, "status" | "suspendedAt">;
}): ReactNode => (
  <ViewBadge
    view={
      status === "awaiting_approval" && suspendedAt !== null ? SUSPENDED : STATUS_VIEWS[status]
    }
  />
);

export const RunStatus = ({
  status,
}: {
  readonly status: Schedule["runs"][number]["status"];
}): ReactNode => <ViewBadge view={RUN_VIEWS[status]} />;

export const periodText = ({ every }: Pick<Schedule, "every">): string =>
  PERIOD_WORDS[every ?? "once"];

export const ZonedTime = ({
  value,
  timeZone,
}: {
  readonly value: string;
  readonly timeZone: string;
}): ReactNode => {
  const locale = useLocale();
  const format = new Intl.DateTimeFormat(PAGE_LANGUAGE, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone,
    ...hoursOf(locale),
  });
  return (
    <time dateTime={value} title={value} className="num">
      {format.format(new Date(value))} <span className="text-fg-3">{timeZone}</span>
    </time>
  );
};

/** All schedules of payouts, newest first. */
export const useScheduleList = (): Pages<Schedule> =>
  usePages(apiPages(listPayoutSchedules, { query: { limit: PAGE_ROWS } }));

export const scheduleQuery = (id: string) => apiQuery(getPayoutSchedule, { params: { id } });

export const useSchedule = (id: string): UseQueryResult<Schedule> =>
  useLiveQuery(scheduleQuery(id));

type ScheduleRow = ResponseOf<typeof listPayoutScheduleItems>["data"][number];

/** Rows per page. A schedule has up to 10,000 rows. */
const ROWS_READ = 50;

/** The rows that each run pays, in their order. They never change. */
export const useScheduleRows = (id: string): Pages<ScheduleRow> =>
  usePages(apiPages(listPayoutScheduleItems, { params: { id }, query: { limit: ROWS_READ } }));

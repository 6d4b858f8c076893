"use client";

import { Ban, CalendarCheck, CircleCheck, CirclePause, CircleX, ClockAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Badge, type Tone } from "@/components/ui/badge";
import { useLocale } from "@/components/ui/use-locale";
import type { Schedule } from "../payout";
import { PERIOD_WORDS } from "../new/schedule-values";

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

/** `missed` runs are never paid by themselves, so they are as loud as refused ones. */
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

export const ScheduleStatus = ({ status }: { readonly status: Schedule["status"] }): ReactNode => (
  <ViewBadge view={STATUS_VIEWS[status]} />
);

export const RunStatus = ({ status }: { readonly status: Schedule["runs"][number]["status"] }): ReactNode => (
  <ViewBadge view={RUN_VIEWS[status]} />
);

export const periodText = ({ every }: Pick<Schedule, "every">): string => PERIOD_WORDS[every ?? "once"];

/** A moment on the clocks of the schedule's zone. */
export const ZonedTime = ({ value, timeZone }: { readonly value: string; readonly timeZone: string }): ReactNode => {
  const locale = useLocale();
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone });
  return (
    <time dateTime={value} title={value} className="num">
      {format.format(new Date(value))} <span className="text-fg-3">{timeZone}</span>
    </time>
  );
};

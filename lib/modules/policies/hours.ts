import type { PolicyRules } from "@/lib/contracts/policy-rules";

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** Whether the time lies in one of the windows. `from` is included, `to` is not; days and times are those of the time zone. */
export const isOpen = ({ timeZone, windows }: NonNullable<PolicyRules["hours"]>, at: Date): boolean => {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const day = WEEKDAYS.indexOf(parts.get("weekday") ?? "") + 1;
  const time = `${parts.get("hour") ?? ""}:${parts.get("minute") ?? ""}`;
  return windows.some(({ days, from, to }) => days.includes(day) && from <= time && time < to);
};

import type { ReactNode } from "react";
import { Checkbox } from "@/components/ui/field";
import { EVENT_GROUPS } from "@/lib/contracts/events";

interface EventPickerProps {
  readonly value: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
  readonly error?: string | undefined;
}

const ALL = "*";
const TITLES = {
  operation: "Operations",
  transfer: "Transfers",
  payout: "Payouts",
  deposit: "Deposits",
  payout_schedule: "Payout schedules",
  global_account: "Global accounts",
  api_key: "API keys",
  approval: "Approvals",
  member: "Members",
  policy: "Policies",
} as const satisfies Record<keyof typeof EVENT_GROUPS, string>;

const toggled = (value: readonly string[], name: string, isOn: boolean): readonly string[] =>
  isOn ? [...value, name] : value.filter((other) => other !== name);

interface GroupProps extends EventPickerProps {
  readonly group: keyof typeof EVENT_GROUPS;
}

const Group = ({ group, value, onChange }: GroupProps): ReactNode => {
  const types: readonly string[] = EVENT_GROUPS[group];
  const every = `${group}.*`;
  const isWhole = value.includes(every);
  return (
    <fieldset className="rounded-card border px-3 pt-1 pb-2">
      <legend className="px-1 text-sm font-medium">{TITLES[group]}</legend>
      <Checkbox
        label={`All of ${TITLES[group].toLowerCase().replace("api", "API")}`}
        checked={isWhole}
        onChange={(event) =>
          onChange(
            toggled(
              value.filter((name) => !types.includes(name)),
              every,
              event.target.checked,
            ),
          )
        }
      />
      {isWhole || types.length === 1 ? null : (
        <div className="grid grid-cols-1 gap-x-4 pl-6 sm:grid-cols-2">
          {types.map((type) => (
            <Checkbox
              key={type}
              label={<code className="font-mono text-sm">{type}</code>}
              checked={value.includes(type)}
              onChange={(event) => onChange(toggled(value, type, event.target.checked))}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
};

/** Which events an endpoint gets: all, whole objects, or types by name. */
export const EventPicker = ({ value, onChange, error }: EventPickerProps): ReactNode => (
  <div className="flex flex-col gap-2" role="group" aria-label="Events">
    <Checkbox
      label="All events, also those that are added later"
      checked={value.includes(ALL)}
      onChange={(event) => onChange(event.target.checked ? [ALL] : [])}
    />
    {value.includes(ALL)
      ? null
      : (Object.keys(EVENT_GROUPS) as (keyof typeof EVENT_GROUPS)[]).map((group) => (
          <Group key={group} group={group} value={value} onChange={onChange} />
        ))}
    {error === undefined ? null : (
      <p role="alert" className="text-sm text-danger">
        {error}
      </p>
    )}
  </div>
);

import type { ReactNode } from "react";
import { cn } from "./cn";

const PREFIX = "0x".length;
const GROUP = 4;

/** `0x` and ten groups of four, as the eye compares them. */
const groupsOf = (address: string): string[] => {
  const digits = address.slice(PREFIX);
  return Array.from({ length: Math.ceil(digits.length / GROUP) }, (_, index) =>
    digits.slice(index * GROUP, (index + 1) * GROUP),
  );
};

interface AddressGroupsProps {
  readonly value: string;
  /** Marks the groups in which it differs from this one. */
  readonly differsFrom?: string;
  readonly className?: string;
}

/** How many groups stay on one line where there is no room for all ten. */
const LINE = 5;

/** A whole address for review, in groups that can be compared. Space is drawn, not written: copying gives the address alone. */
export const AddressGroups = ({ value, differsFrom, className }: AddressGroupsProps): ReactNode => {
  const groups = groupsOf(value);
  const other = differsFrom === undefined ? null : groupsOf(differsFrom);
  const looksAt = (index: number): string =>
    other !== null && other[index]?.toLowerCase() !== groups[index]?.toLowerCase()
      ? "rounded-tag bg-danger-tint font-semibold text-danger underline"
      : index % 2 === 1
        ? "text-fg-2"
        : "";
  return (
    <code className={cn("inline-flex max-w-full flex-wrap gap-x-1.5 font-mono text-sm", className)} title={value}>
      <span className="text-fg-3">{value.slice(0, PREFIX)}</span>
      {[0, LINE].map((start) => (
        <span key={start} className="inline-flex gap-x-1.5">
          {groups.slice(start, start + LINE).map((group, index) => (
            <span key={start + index} className={looksAt(start + index)}>
              {group}
            </span>
          ))}
        </span>
      ))}
    </code>
  );
};

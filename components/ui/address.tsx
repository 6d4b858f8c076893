import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { addressFigure, FIGURE_SIDE } from "./address-figure";
import { cn } from "./cn";
import { CopyButton } from "./button";

const HEAD = 6;
const TAIL = 4;

/** Shortens a long id or address in the middle: `0x5aAe…eAed`. */
export const shorten = (text: string, head = HEAD, tail = TAIL): string =>
  text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;

interface CodeValueProps {
  readonly value: string;
  /** Shows the full value, which may wrap; for reviews. */
  readonly full?: boolean;
  /** Noun in the accessible name of the copy button: `Copy address`. */
  readonly what: string;
  readonly head?: number;
  readonly copyable?: boolean;
  readonly href?: string | null | undefined;
  readonly className?: string;
}

const CodeValue = ({
  value,
  full = false,
  what,
  head,
  copyable = true,
  href,
  className,
}: CodeValueProps): ReactNode => (
  <span
    className={cn(
      "inline-flex items-center gap-0.5 align-middle",
      full ? "min-w-0" : "shrink-0",
      className,
    )}
  >
    <code
      className={cn("font-mono text-sm", full ? "break-all" : "whitespace-nowrap")}
      title={value}
    >
      {full ? value : shorten(value, head)}
    </code>
    {copyable ? <CopyButton value={value} label={`Copy ${what}`} /> : null}
    {href == null ? null : (
      <a
        href={href}
        target="_blank"
        rel="noreferrer"
        aria-label={`Open ${what} in the block explorer`}
        className="relative z-1 inline-flex size-6 items-center justify-center text-fg-3 hover:text-accent"
      >
        <ExternalLink className="size-3.5" aria-hidden />
      </a>
    )}
  </span>
);

export interface AddressProps extends Omit<CodeValueProps, "what" | "head"> {
  /** The project's name for the address, shown before it. */
  readonly name?: string | undefined;
  /** Whether to show the address's mark. False when the mark is already beside the address. */
  readonly mark?: boolean;
}

/** An EIP-55 address (checksummed by the API) with its mark. */
export const Address = ({ name, mark = true, ...props }: AddressProps): ReactNode => (
  <span className="inline-flex max-w-full min-w-0 items-center gap-1.5 align-middle">
    {mark ? <AddressMark value={props.value} /> : null}
    <span className="inline-flex min-w-0 flex-wrap items-center gap-x-2 @min-[40rem]:in-table:flex-nowrap">
      {name === undefined ? null : (
        <span
          className="min-w-0 wrap-anywhere in-table:truncate"
          title={`${name}, ${props.value}`}
        >
          {name}
        </span>
      )}
      <CodeValue {...props} what="address" />
    </span>
  </span>
);

export const TxHash = (props: Omit<CodeValueProps, "what" | "head">): ReactNode => (
  <CodeValue {...props} what="transaction hash" />
);

/** A public id, shortened to its prefix, its first digits and its end: `op_0198c…1a2b`. */
export const PublicId = (props: Omit<CodeValueProps, "what" | "head">): ReactNode => (
  <CodeValue {...props} what="id" head={8} />
);

interface AddressMarkProps {
  /** An address, or the id of an account or a person. */
  readonly value: string;
  readonly className?: string;
}

/**
 * A figure that helps people to distinguish addresses. It is always shown beside a name or the
 * address.
 */
export const AddressMark = ({ value, className }: AddressMarkProps): ReactNode => {
  const { ground, main, spot, mainPath, spotPath } = addressFigure(value);
  return (
    <svg
      viewBox={`0 0 ${String(FIGURE_SIDE)} ${String(FIGURE_SIDE)}`}
      className={cn(
        "relative -top-px inline-block size-4 shrink-0 rounded-tag align-middle",
        className,
      )}
      shapeRendering="crispEdges"
      aria-hidden
    >
      <path d={`M0 0h${String(FIGURE_SIDE)}v${String(FIGURE_SIDE)}H0z`} fill={ground} />
      <path d={mainPath} fill={main} />
      <path d={spotPath} fill={spot} />
    </svg>
  );
};

const PREFIX = "0x".length;
const GROUP = 4;

const groupsOf = (address: string): string[] => {
  const digits = address.slice(PREFIX);
  return Array.from({ length: Math.ceil(digits.length / GROUP) }, (_, index) =>
    digits.slice(index * GROUP, (index + 1) * GROUP),
  );
};

interface AddressGroupsProps {
  readonly value: string;
  /** Another address. Groups of digits that differ from it are marked. */
  readonly differsFrom?: string;
  readonly className?: string;
}

/** Number of groups on a line when there is no room for all ten. */
const LINE = 5;

/**
 * A full address in groups that can be compared. CSS draws the gaps between groups, so a copied
 * address has no gaps.
 */
export const AddressGroups = ({
  value,
  differsFrom,
  className,
}: AddressGroupsProps): ReactNode => {
  const groups = groupsOf(value);
  const other = differsFrom === undefined ? null : groupsOf(differsFrom);
  const looksAt = (index: number): string => {
    if (other !== null && other[index]?.toLowerCase() !== groups[index]?.toLowerCase())
      return "rounded-tag bg-danger-tint font-semibold text-danger underline";
    return index % 2 === 1 ? "text-fg-2" : "";
  };
  return (
    <code
      className={cn("inline-flex max-w-full flex-wrap gap-x-1.5 font-mono text-sm", className)}
      title={value}
    >
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

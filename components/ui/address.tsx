import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { AddressMark } from "./address-mark";
import { cn } from "./cn";
import { CopyButton } from "./copy-button";

const HEAD = 6;
const TAIL = 4;

/** `0x5aAe…eAed`: the middle of a long id or address left out. */
export const shorten = (text: string, head = HEAD, tail = TAIL): string =>
  text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;

interface CodeValueProps {
  readonly value: string;
  /** Whole, as review screens need it; may wrap. */
  readonly full?: boolean;
  /** Names the value in the accessible name of the copy button: `Copy address`. */
  readonly what: string;
  readonly head?: number;
  readonly copyable?: boolean;
  /** Page of a block explorer. */
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
  <span className={cn("inline-flex min-w-0 items-center gap-0.5 align-middle", className)}>
    <code className={cn("font-mono text-sm", full ? "break-all" : "whitespace-nowrap")} title={value}>
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
  /** A name that the project gave it; shown before the address. */
  readonly name?: string | undefined;
  /** False where the mark stands beside it already. */
  readonly mark?: boolean;
}

/** An EIP-55 address, as the API gives it (already checksummed), with its mark. */
export const Address = ({ name, mark = true, ...props }: AddressProps): ReactNode => (
  <span className="inline-flex max-w-full min-w-0 items-center gap-1.5 align-middle">
    {mark ? <AddressMark value={props.value} /> : null}
    <span className="inline-flex min-w-0 flex-wrap items-center gap-x-2">
      {name === undefined ? null : <span>{name}</span>}
      <CodeValue {...props} what="address" />
    </span>
  </span>
);

export const TxHash = (props: Omit<CodeValueProps, "what" | "head">): ReactNode => (
  <CodeValue {...props} what="transaction hash" />
);

/** A public id such as `op_0198…`; its end differs from its neighbours', so more of that is shown. */
export const PublicId = (props: Omit<CodeValueProps, "what" | "head">): ReactNode => (
  <CodeValue {...props} what="id" head={8} />
);

"use client";

import {
  BookUser,
  CircleCheck,
  CircleDashed,
  History,
  type LucideIcon,
  Wallet,
} from "lucide-react";
import type { ReactNode } from "react";
import { AddressGroups, AddressMark } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/field";
import type { KnownAddress } from "@/lib/core/look-alike";
import { isCalledNew, type RecipientView } from "./recipient";

const AS_WORDS = {
  own: (name) => `Your own wallet ${name}`,
  contact: (name) => `${name}, from the address book`,
  proposed: () => "In the address book, but not approved",
  earlier: (name) => `An address that was paid before, ${name}`,
} as const satisfies Record<KnownAddress["as"], (name: string) => string>;

const AS_ICONS = {
  own: Wallet,
  contact: BookUser,
  proposed: CircleDashed,
  earlier: History,
} as const satisfies Record<KnownAddress["as"], LucideIcon>;

export const RecipientWord = ({ view }: { readonly view: RecipientView }): ReactNode => {
  if (view.as === "none") return null;
  if (view.as === "new") return <span className="text-warning">A new recipient</span>;
  const Icon = view.lookAlike === null ? AS_ICONS[view.as] : CircleCheck;
  return (
    <span className="inline-flex items-center gap-1.5">
      <Icon className="size-3.5 shrink-0 text-fg-3" aria-hidden />
      {AS_WORDS[view.as](view.name)}
    </span>
  );
};

interface LookAlikeProps {
  readonly address: string;
  /** Says what the address is. Default: that it was typed. */
  readonly label?: string;
  readonly lookAlike: KnownAddress;
}

const LOOKS_LIKE = {
  own: (name) => `your wallet ${name}`,
  contact: (name) => `${name} in the address book`,
  proposed: () => "an unapproved one in the address book",
  earlier: () => "one that was paid before",
} as const satisfies Record<KnownAddress["as"], (name: string) => string>;

const IT_IS = {
  own: (name) => name,
  contact: (name) => name,
  proposed: () => "In the address book",
  earlier: () => "Paid before",
} as const satisfies Record<KnownAddress["as"], (name: string) => string>;

export const LookAlikeAlert = ({
  address,
  label = "Typed now",
  lookAlike,
  children,
}: LookAlikeProps & { readonly children?: ReactNode }): ReactNode => (
  <Alert
    tone="danger"
    title={`This address looks like ${LOOKS_LIKE[lookAlike.as](lookAlike.name)}, but it is not.`}
  >
    <dl className="flex flex-col gap-1">
      <div>
        <dt className="text-sm text-fg-2">{label}</dt>
        <dd>
          <AddressGroups value={address} differsFrom={lookAlike.address} />
        </dd>
      </div>
      <div>
        <dt className="text-sm text-fg-2">{IT_IS[lookAlike.as](lookAlike.name)}</dt>
        <dd>
          <AddressGroups value={lookAlike.address} />
        </dd>
      </div>
    </dl>
    <p className="pt-1">
      Such addresses are made to be mistaken. Money sent there does not come back.
    </p>
    {children}
  </Alert>
);

interface RecipientStandingProps {
  readonly view: RecipientView;
  /** Whether all known addresses are loaded. Before that, no address is called new. */
  readonly complete: boolean;
}

/**
 * Tells the approver of another person's payment whether the recipient is known: by its name and
 * the number of earlier payments, as a first payment, or as a look-alike of a known address.
 */
export const RecipientStanding = ({ view, complete }: RecipientStandingProps): ReactNode => {
  if (view.as === "none") return null;
  if (view.lookAlike !== null)
    return (
      <LookAlikeAlert address={view.address} lookAlike={view.lookAlike} label="To be paid" />
    );
  if (view.as === "new")
    return isCalledNew(view, complete) ? (
      <Alert tone="warning" title="Nothing was sent to this address yet">
        Compare it whole, best over another way than the one it came by:{" "}
        <AddressGroups value={view.address} />
      </Alert>
    ) : null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-fg-2">
      <RecipientWord view={view} />
    </p>
  );
};

interface RecipientNotesProps {
  readonly view: RecipientView;
  /** Whether all known addresses are loaded. Before that, no address is called new. */
  readonly complete: boolean;
  readonly compared: boolean;
  readonly onCompared: (compared: boolean) => void;
  readonly onSave: () => void;
  /**
   * Omits the note that the recipient belongs to the project, because that is usual on this page.
   */
  readonly ownIsUsual?: boolean;
}

export const RecipientNotes = (props: RecipientNotesProps): ReactNode => {
  const { view, complete, compared, onCompared, onSave, ownIsUsual = false } = props;
  if (view.as === "none") return null;
  if (view.lookAlike !== null)
    return (
      <LookAlikeAlert address={view.address} lookAlike={view.lookAlike}>
        <Checkbox
          className="pt-1"
          label="I have compared the whole address with whom it belongs to."
          checked={compared}
          onChange={(event) => onCompared(event.target.checked)}
        />
      </LookAlikeAlert>
    );
  if (isCalledNew(view, complete))
    return (
      <Alert
        tone="info"
        title="Nothing was sent to this address yet"
        actions={
          <Button size="sm" onClick={onSave}>
            Save as contact
          </Button>
        }
      >
        Compare it whole, best over another way than the one it came by:{" "}
        <AddressGroups value={view.address} />
      </Alert>
    );
  if (view.as === "own" && !ownIsUsual)
    return (
      <Alert tone="info" title={`You are sending to your own wallet ${view.name}`}>
        The money stays in the project.
      </Alert>
    );
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-fg-2">
      <AddressMark value={view.address} />
      <RecipientWord view={view} />
      <AddressGroups value={view.address} />
      {view.as === "earlier" ? (
        <button type="button" className="link min-h-6" onClick={onSave}>
          Save as contact
        </button>
      ) : null}
    </p>
  );
};

"use client";

import { BookUser, CircleDashed, History, TriangleAlert, Wallet } from "lucide-react";
import { type ReactNode, useState } from "react";
import { recipientView } from "@/components/features/transfer/recipient";
import { AddressGroups, AddressMark, shorten } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { countText } from "@/lib/core/amount-text";
import type { KnownAddress } from "@/lib/core/look-alike";

interface RecipientLineProps {
  readonly address: string;
  readonly known: readonly KnownAddress[];
}

/**
 * A full address with its icon and its name in the project, and a warning when it only looks like a
 * known address.
 */
export const WalletRecipient = ({ address, known }: RecipientLineProps): ReactNode => (
  <span className="flex items-start gap-2">
    <AddressMark value={address} />
    <span className="min-w-0">
      <AddressGroups value={address} />
      <RecipientLine address={address} known={known} />
    </span>
  </span>
);

interface AccountRecipientProps {
  readonly id: string;
  readonly name: string | undefined;
}

export const AccountRecipient = ({ id, name }: AccountRecipientProps): ReactNode => (
  <>
    <span className="block">{name ?? "Account"}</span>
    <code className="block font-mono text-xs break-all text-fg-2">{id}</code>
  </>
);

interface RecipientItemProps {
  readonly who: ReactNode;
  readonly amount: string;
  readonly unit: string;
  readonly reference: string | null;
}

export const RecipientItem = ({
  who,
  amount,
  unit,
  reference,
}: RecipientItemProps): ReactNode => (
  <li className="flex flex-wrap items-baseline justify-between gap-x-4 px-3 py-2">
    <span className="min-w-0">
      {who}
      {reference === null ? null : (
        <span className="block text-sm [overflow-wrap:anywhere] text-fg-3">{reference}</span>
      )}
    </span>
    <Amount value={amount} unit={unit} className="ml-auto" />
  </li>
);

const ICONS = {
  own: Wallet,
  contact: BookUser,
  proposed: CircleDashed,
  earlier: History,
} as const;
const WORDS = {
  own: (name: string) => `Your wallet ${name}`,
  contact: (name: string) => name,
  proposed: () => "In the address book, not approved",
  earlier: (name: string) => `Paid before, ${name}`,
} as const;

/**
 * Names the owner of the address when the project knows it, and warns when the address only looks
 * like a known one.
 */
export const RecipientLine = ({ address, known }: RecipientLineProps): ReactNode => {
  const view = recipientView(address, known);
  if (view.as === "none") return null;
  const Icon = view.as === "new" ? null : ICONS[view.as];
  return (
    <>
      {view.as === "new" || Icon === null ? null : (
        <span className="flex items-center gap-1 text-xs text-fg-2">
          <Icon className="size-3 shrink-0" aria-hidden />
          <span className="truncate">{WORDS[view.as](view.name)}</span>
        </span>
      )}
      {view.lookAlike === null ? null : (
        <span className="flex items-start gap-1 text-xs text-warning">
          <TriangleAlert className="mt-0.5 size-3 shrink-0" aria-hidden />
          <span>
            Looks like{" "}
            {view.lookAlike.as === "earlier" ? "an address paid before" : view.lookAlike.name} (
            {shorten(view.lookAlike.address)}), but is not. Compare the whole address.
          </span>
        </span>
      )}
    </>
  );
};

const ROWS_SHOWN = 50;

interface PagedRecipientsProps<Row> {
  readonly rows: readonly Row[];
  readonly children: (row: Row, index: number) => ReactNode;
}

export const PagedRecipients = <Row,>({
  rows,
  children,
}: PagedRecipientsProps<Row>): ReactNode => {
  const [shown, setShown] = useState(ROWS_SHOWN);
  return (
    <>
      <ol className="divide-y">{rows.slice(0, shown).map(children)}</ol>
      {shown < rows.length ? (
        <ShowMore left={rows.length - shown} onMore={() => setShown(shown + ROWS_SHOWN)} />
      ) : null}
    </>
  );
};

interface ShowMoreProps {
  /** The number of rows that are not shown. */
  readonly left: number;
  readonly loading?: boolean;
  readonly onMore: () => void;
}

export const ShowMore = ({ left, loading = false, onMore }: ShowMoreProps): ReactNode => (
  <div className="flex justify-center border-t py-2">
    <Button size="sm" loading={loading} onClick={onMore}>
      Show more ({countText(left)} left)
    </Button>
  </div>
);

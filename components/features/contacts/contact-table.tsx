"use client";

import { BadgeCheck, Ellipsis, MapPinPlus, Pencil, Trash2, TriangleAlert } from "lucide-react";
import Link from "next/link";
import { useMemo, type ReactNode } from "react";
import { useMay } from "@/components/features/projects/use-project";
import { useApiQuery } from "@/components/features/session/use-api";
import { useKnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { Address } from "@/components/ui/address";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ChainName } from "@/components/ui/chain-name";
import { DropdownMenu, MenuItem, MenuSeparator } from "@/components/ui/dropdown-menu";
import { AddressMark } from "@/components/ui/address-mark";
import { Table, type Column } from "@/components/ui/table";
import { listApiKeys } from "@/lib/api-client/calls.gen";
import { createLookAlikes, type KnownAddress } from "@/lib/core/look-alike";
import { ContactState } from "./contact-state";
import type { Contact } from "./use-contacts";

interface Actions {
  readonly onTag: (tag: string) => void;
  readonly onEdit: (contact: Contact) => void;
  /** Another address of the same name, for instance on another chain. */
  readonly onAddAddress: (contact: Contact) => void;
  readonly onApprove: (contact: Contact) => void;
  readonly onDelete: (contact: Contact) => void;
}

interface ContactTableProps extends Actions {
  readonly contacts: readonly Contact[];
  /** Also those that the search hides: they may look like those that it shows. */
  readonly all: readonly Contact[];
}

const useColumns = (all: readonly Contact[], actions: Actions): readonly Column<Contact>[] => {
  const { known } = useKnownAddresses();
  const mayApprove = useMay("policies:manage");
  const mayWrite = useMay("records:write");
  const keys = useApiQuery(listApiKeys, {}).data?.data;
  return useMemo(() => {
    const own = known.filter(({ as }) => as === "own");
    const lookAlikeOf = createLookAlikes([
      ...own,
      ...all.map(({ address, name }) => ({ address, name, as: "contact" as const })),
    ]);
    const keysOf = ({ address }: Contact): readonly string[] =>
      (keys ?? []).filter((key) => key.revokedAt === null && key.recipients.includes(address)).map(({ name }) => name);
    return [
      {
        id: "name",
        header: "Name",
        phone: "title",
        cell: (contact) => <Name contact={contact} lookAlike={lookAlikeOf(contact.address)} />,
      },
      { id: "address", header: "Address", cell: ({ address }) => <Address value={address} /> },
      { id: "chains", header: "Chains", phone: "hidden", cell: ({ chainIds }) => <Chains ids={chainIds} /> },
      { id: "tags", header: "Tags", phone: "hidden", cell: ({ tags }) => <Tags tags={tags} onTag={actions.onTag} /> },
      {
        id: "used",
        header: "Used in",
        phone: "hidden",
        cell: (contact) => <UsedIn contact={contact} keys={keysOf(contact)} />,
      },
      { id: "state", header: "Status", cell: (contact) => <ContactState contact={contact} /> },
      {
        id: "actions",
        header: <span className="sr-only">Actions</span>,
        align: "right",
        cell: (contact) =>
          mayWrite ? <RowActions contact={contact} mayApprove={mayApprove} actions={actions} /> : null,
      },
    ];
  }, [all, known, keys, mayApprove, mayWrite, actions]);
};

export const ContactTable = ({ contacts, all, ...actions }: ContactTableProps): ReactNode => (
  <Table caption="Contacts" columns={useColumns(all, actions)} rows={contacts} rowKey={({ id }) => id} />
);

const Name = ({
  contact,
  lookAlike,
}: {
  readonly contact: Contact;
  readonly lookAlike: KnownAddress | null;
}): ReactNode => (
  <span className="inline-flex max-w-full flex-wrap items-center gap-2">
    <AddressMark value={contact.address} />
    <span className="font-medium wrap-anywhere">{contact.name}</span>
    {lookAlike === null ? null : (
      <Badge
        tone="danger"
        icon={TriangleAlert}
        title={`Begins and ends like ${lookAlike.name}, ${lookAlike.address}. Compare the whole address.`}
      >
        Looks like {lookAlike.name}
      </Badge>
    )}
  </span>
);

const Chains = ({ ids }: { readonly ids: readonly number[] }): ReactNode =>
  ids.length === 0 ? (
    <span className="text-fg-3">Every chain</span>
  ) : (
    ids.map((id, index) => (
      <span key={id}>
        {index === 0 ? "" : ", "}
        <ChainName chainId={id} />
      </span>
    ))
  );

const Tags = ({
  tags,
  onTag,
}: {
  readonly tags: readonly string[];
  readonly onTag: (tag: string) => void;
}): ReactNode => (
  <span className="flex flex-wrap gap-1">
    {tags.map((tag) => (
      <button
        key={tag}
        type="button"
        aria-label={`Contacts with the tag ${tag}`}
        className="h-6 rounded-tag bg-sunken px-1.5 text-sm text-fg-2 hover:text-fg"
        onClick={() => onTag(tag)}
      >
        {tag}
      </button>
    ))}
  </span>
);

const UsedIn = ({ contact, keys }: { readonly contact: Contact; readonly keys: readonly string[] }): ReactNode => (
  <span className="flex flex-wrap gap-x-3">
    <Link href={`/activity?q=${contact.address}`} className="link" aria-label={`Activity with ${contact.name}`}>
      Activity
    </Link>
    {keys.length === 0 ? null : (
      <Link href="/api-keys" className="link" title={`Recipient of ${keys.join(", ")}`}>
        {keys.length === 1 ? "1 API key" : `${String(keys.length)} API keys`}
      </Link>
    )}
  </span>
);

interface RowActionsProps {
  readonly contact: Contact;
  readonly mayApprove: boolean;
  readonly actions: Actions;
}

const RowActions = ({ contact, mayApprove, actions }: RowActionsProps): ReactNode => (
  <DropdownMenu
    trigger={
      <Button variant="ghost" size="sm" className="px-1.5" aria-label={`Actions for ${contact.name}`}>
        <Ellipsis aria-hidden />
      </Button>
    }
  >
    <MenuItem onSelect={() => actions.onEdit(contact)}>
      <Pencil aria-hidden /> Edit
    </MenuItem>
    <MenuItem onSelect={() => actions.onAddAddress(contact)}>
      <MapPinPlus aria-hidden /> Add another address
    </MenuItem>
    {mayApprove && contact.state === "proposed" ? (
      <MenuItem onSelect={() => actions.onApprove(contact)}>
        <BadgeCheck aria-hidden /> Approve
      </MenuItem>
    ) : null}
    <MenuSeparator />
    <MenuItem danger onSelect={() => actions.onDelete(contact)}>
      <Trash2 aria-hidden /> Delete
    </MenuItem>
  </DropdownMenu>
);

"use client";

import {
  BadgeCheck,
  BookUser,
  Ellipsis,
  FileUp,
  MapPinPlus,
  Pencil,
  Plus,
  Trash2,
} from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { parseAsBoolean, parseAsString, useQueryState, useQueryStates } from "nuqs";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { useApiKeys } from "@/components/features/api-keys/use-api-keys";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ConfirmChangeDialog } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { counted } from "@/components/features/payouts/new/amount-rules";
import { SearchField } from "@/components/features/operations/search-field";
import { useMay } from "@/components/features/projects/use-project";
import { WarningList } from "@/components/features/warnings/warnings";
import { Address, AddressGroups, AddressMark } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { DropdownMenu, MenuItem, MenuSeparator } from "@/components/ui/dropdown-menu";
import { EmptyState, QueryCard } from "@/components/ui/states";
import { Field } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { FilterSelect } from "@/components/ui/select";
import { type Column, RowName, Table } from "@/components/ui/table";
import { toast } from "@/components/ui/toast";
import { approveContact, listContacts } from "@/lib/api-client/calls.gen";
import { countText } from "@/lib/core/amount-text";
import { ALL_CONTACTS, ApproveContactsDialog } from "./approve-contacts";
import {
  ContactDialog,
  type ContactDraft,
  ContactState,
  DeleteContactDialog,
  WarningBadges,
} from "./contact-dialog";
import type { ImportedRow } from "./import/use-contact-import";
import {
  type Contact,
  filterContacts,
  tagsOf,
  useApproveContact,
  useContacts,
} from "./use-contacts";

// The import is loaded on demand, because it needs code for files that the list does not need.
const ImportContacts = dynamic(
  () => import("./import/import-contacts").then((module) => module.ImportContacts),
  { ssr: false },
);

/** Number of rows that are rendered before the person asks for more. */
const ROWS_SHOWN = 200;

const FILTERS = { q: parseAsString, tag: parseAsString };
const NEW: ContactDraft = { contact: null, name: "" };

const NoneFound = ({ onShowAll }: { readonly onShowAll: () => void }): ReactNode => (
  <EmptyState
    icon={BookUser}
    title="No contact fits the search"
    action={<Button onClick={onShowAll}>Show all contacts</Button>}
  />
);

export const Contacts = (): ReactNode => {
  const query = useContacts();
  const { data } = query;
  const [filter, setFilter] = useQueryStates(FILTERS, { history: "replace" });
  const [adding, setAdding] = useQueryState("new", parseAsBoolean.withDefault(false));
  const [draft, setDraft] = useState<ContactDraft | null>(null);
  const [approvingId, setApprovingId] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<Contact | null>(null);
  const [shown, setShown] = useState(ROWS_SHOWN);
  const search = useCallback(
    (q: string) => void setFilter({ q: q === "" ? null : q }),
    [setFilter],
  );
  const contacts = data?.data ?? [];
  useReopen("contact.approve ", setApprovingId);
  const approving = contacts.find(({ id }) => id === approvingId);
  const newDraft = adding ? NEW : null;
  const shownDraft = draft ?? newDraft;
  const found = filterContacts(contacts, filter);
  const add = (
    <Button variant="primary" onClick={() => void setAdding(true)}>
      <Plus aria-hidden /> Add contact
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Contacts"
        description="Names for the addresses that you pay. Names and addresses that look alike are flagged, and only approved names are shown where people decide."
        actions={
          <>
            <ContactImport contacts={contacts} />
            {add}
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-end gap-2">
          <SearchField
            value={filter.q ?? ""}
            placeholder="Name, address or tag"
            onSettle={search}
          />
          <TagFilter
            tags={tagsOf(contacts)}
            value={filter.tag}
            onChange={(tag) => void setFilter({ tag })}
          />
        </div>
        <QueryCard
          query={query}
          what="contacts"
          cards
          empty={
            <EmptyState icon={BookUser} title="No contacts yet" action={add}>
              An address that has a name here is recognised wherever it is typed.
            </EmptyState>
          }
        >
          {() =>
            found.length === 0 ? (
              <NoneFound onShowAll={() => void setFilter({ q: null, tag: null })} />
            ) : (
              <>
                <ContactTable
                  contacts={found.slice(0, shown)}
                  onTag={(tag) => void setFilter({ tag })}
                  onEdit={(contact) => setDraft({ contact, name: contact.name })}
                  onAddAddress={({ name }) => setDraft({ contact: null, name })}
                  onApprove={({ id }) => setApprovingId(id)}
                  onDelete={setDeleting}
                />
                <ShowMore
                  shown={shown}
                  count={found.length}
                  onMore={() => setShown(shown + ROWS_SHOWN)}
                />
              </>
            )
          }
        </QueryCard>
        <ApiSnippet call={listContacts} />
      </div>
      {shownDraft === null ? null : (
        <ContactDialog
          draft={shownDraft}
          onClose={() => {
            setDraft(null);
            void setAdding(null);
          }}
        />
      )}
      {approving === undefined ? null : (
        <ApproveContactDialog contact={approving} onClose={() => setApprovingId(null)} />
      )}
      <DeleteContactDialog contact={deleting} onClose={() => setDeleting(null)} />
    </>
  );
};

const ShowMore = (props: {
  readonly shown: number;
  readonly count: number;
  readonly onMore: () => void;
}): ReactNode =>
  props.count <= props.shown ? null : (
    <div className="flex items-center justify-end gap-3 border-t px-4 py-2">
      <span className="text-sm text-fg-2">
        {countText(props.shown)} of {countText(props.count)} contacts
      </span>
      <Button size="sm" onClick={props.onMore}>
        Show more
      </Button>
    </div>
  );

/** Imports contacts from a file, and approves the contacts that the import proposed. */
const ContactImport = ({ contacts }: { readonly contacts: readonly Contact[] }): ReactNode => {
  const mayApprove = useMay("policies:manage");
  const mayWrite = useMay("records:write");
  const [importing, setImporting] = useState(false);
  // The contacts to approve: null when no dialog is open, undefined for all proposed contacts.
  const [approving, setApproving] = useState<ReadonlySet<string> | null | undefined>(null);
  useReopen(
    ALL_CONTACTS,
    useCallback(() => setApproving(undefined), []),
  );
  const proposed = contacts.filter(({ state }) => state === "proposed");
  const chosen = proposed.filter(({ id }) => approving?.has(id) ?? true);
  const finish = (rows: readonly ImportedRow[]): void => {
    setImporting(false);
    const stored = rows.filter(({ outcome }) => outcome === "created" || outcome === "updated");
    toast.success(counted(stored.length, "contact is imported.", "contacts are imported."));
    if (mayApprove) setApproving(new Set(stored.flatMap(({ id }) => id ?? [])));
  };
  return (
    <>
      {mayApprove && proposed.length > 1 ? (
        <Button className="max-md:hidden" onClick={() => setApproving(undefined)}>
          <BadgeCheck aria-hidden /> Approve {countText(proposed.length)} proposed
        </Button>
      ) : null}
      {mayWrite ? (
        <Button onClick={() => setImporting(true)}>
          <FileUp aria-hidden /> Import
        </Button>
      ) : null}
      {importing ? (
        <ImportContacts onClose={() => setImporting(false)} onImported={finish} />
      ) : null}
      {approving === null || chosen.length === 0 ? null : (
        <ApproveContactsDialog contacts={chosen} onClose={() => setApproving(null)} />
      )}
    </>
  );
};

interface TagFilterProps {
  readonly tags: readonly string[];
  readonly value: string | null;
  readonly onChange: (tag: string | null) => void;
}

const TagFilter = ({ tags, value, onChange }: TagFilterProps): ReactNode => {
  const known = value === null || tags.includes(value) ? tags : [...tags, value];
  // Shown even without tags, so that the list below does not move when the tags load.
  return (
    <Field label="Tag" labelHidden className="w-44">
      <FilterSelect
        value={value}
        onValueChange={onChange}
        all="All tags"
        options={known.map((tag) => ({ value: tag, label: tag }))}
      />
    </Field>
  );
};

interface ApproveContactDialogProps {
  readonly contact: Contact;
  readonly onClose: () => void;
}

/**
 * Approves a contact by code or signature, so that policies that require approved contacts allow
 * payments to it.
 */
const ApproveContactDialog = ({ contact, onClose }: ApproveContactDialogProps): ReactNode => {
  const approve = useApproveContact();
  const change = useApprovable<Contact>(
    `contact.approve ${contact.id}`,
    async (approved, proof) => {
      await approve(approved, proof);
      toast.success(`${approved.name} is approved.`);
      onClose();
    },
  );
  return (
    <ConfirmChangeDialog
      change={change}
      onClose={onClose}
      title={`Approve ${contact.name}`}
      description="Its name is then shown where people decide, and it may be paid on its chains where a policy asks for approved contacts."
      input={contact}
      money="The contact is as it was."
      act="Approve"
      snippet={
        <ApiSnippet call={approveContact} params={{ id: contact.id }} auth="bearer" body={{}} />
      }
    >
      <p className="text-fg-2">
        Compare the whole address with whom it belongs to, best over another way than the one it
        came by.
      </p>
      <WarningList
        tone="danger"
        title="Look at this contact again"
        warnings={contact.warnings}
      />
      <Facts>
        <Fact label="Name">
          <span className="wrap-anywhere">{contact.name}</span>
        </Fact>
        <Fact label="Address">
          <AddressGroups value={contact.address} className="justify-end" />
        </Fact>
        <Fact label="Chains">
          <Chains ids={contact.chainIds} />
        </Fact>
      </Facts>
    </ConfirmChangeDialog>
  );
};

interface Actions {
  readonly onTag: (tag: string) => void;
  readonly onEdit: (contact: Contact) => void;
  /** Starts a new contact with the same name and another address, for example on another chain. */
  readonly onAddAddress: (contact: Contact) => void;
  readonly onApprove: (contact: Contact) => void;
  readonly onDelete: (contact: Contact) => void;
}

interface ContactTableProps extends Actions {
  readonly contacts: readonly Contact[];
}

const useColumns = (actions: Actions): readonly Column<Contact>[] => {
  const mayApprove = useMay("policies:manage");
  const mayWrite = useMay("records:write");
  const keys = useApiKeys().data?.data;
  return useMemo(() => {
    const keysOf = ({ address }: Contact): readonly string[] =>
      (keys ?? [])
        .filter((key) => key.revokedAt === null && key.recipients.includes(address))
        .map(({ name }) => name);
    return [
      {
        id: "name",
        header: "Name",
        phone: "title",
        cell: (contact) => <Name contact={contact} />,
      },
      {
        id: "address",
        header: "Address",
        cell: ({ address }) => <Address value={address} mark={false} />,
      },
      {
        id: "chains",
        header: "Chains",
        phone: "hidden",
        priority: "low",
        cell: ({ chainIds }) => <Chains ids={chainIds} />,
      },
      {
        id: "tags",
        header: "Tags",
        phone: "hidden",
        priority: "medium",
        cell: ({ tags }) => <Tags tags={tags} onTag={actions.onTag} />,
      },
      {
        id: "used",
        header: "Used in",
        phone: "hidden",
        priority: "low",
        cell: (contact) => <UsedIn contact={contact} keys={keysOf(contact)} />,
      },
      { id: "state", header: "Status", cell: (contact) => <ContactState contact={contact} /> },
      {
        id: "actions",
        header: <span className="sr-only">Actions</span>,
        align: "right",
        cell: (contact) =>
          mayWrite ? (
            <RowActions contact={contact} mayApprove={mayApprove} actions={actions} />
          ) : null,
      },
    ];
  }, [keys, mayApprove, mayWrite, actions]);
};

const ContactTable = ({ contacts, ...actions }: ContactTableProps): ReactNode => (
  <Table
    caption="Contacts"
    columns={useColumns(actions)}
    rows={contacts}
    rowKey={({ id }) => id}
  />
);

const Name = ({ contact }: { readonly contact: Contact }): ReactNode => (
  <span className="flex min-w-0 items-center gap-2 @max-[40rem]:flex-wrap">
    <AddressMark value={contact.address} />
    <RowName>{contact.name}</RowName>
    <WarningBadges contact={contact} />
  </span>
);

/** The chains on which the contact is paid and approved; an empty list means every chain. */
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

/** The number of tags in a row, which has one line. The filter above the list has every tag. */
const TAGS_SHOWN = 2;

const Tags = ({
  tags,
  onTag,
}: {
  readonly tags: readonly string[];
  readonly onTag: (tag: string) => void;
}): ReactNode => (
  <span className="flex items-center gap-1">
    {tags.slice(0, TAGS_SHOWN).map((tag) => (
      <button
        key={tag}
        type="button"
        aria-label={`Contacts with the tag ${tag}`}
        title={tag}
        className="h-6 max-w-24 truncate rounded-tag bg-sunken px-1.5 text-sm text-fg-2 hover:text-fg"
        onClick={() => onTag(tag)}
      >
        {tag}
      </button>
    ))}
    {tags.length <= TAGS_SHOWN ? null : (
      <span className="text-sm text-fg-3" title={tags.slice(TAGS_SHOWN).join(", ")}>
        and {tags.length - TAGS_SHOWN} more
      </span>
    )}
  </span>
);

const UsedIn = ({
  contact,
  keys,
}: {
  readonly contact: Contact;
  readonly keys: readonly string[];
}): ReactNode => (
  <span className="flex gap-x-3">
    <Link
      href={`/activity?q=${contact.address}`}
      className="link"
      aria-label={`Activity with ${contact.name}`}
    >
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
      <Button
        variant="ghost"
        size="sm"
        className="px-1.5"
        aria-label={`Actions for ${contact.name}`}
      >
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

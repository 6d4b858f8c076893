"use client";

import { BookUser, Plus } from "lucide-react";
import { parseAsBoolean, parseAsString, useQueryState, useQueryStates } from "nuqs";
import { useCallback, useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useReopen } from "@/components/features/approvals/use-reopen";
import { SearchField } from "@/components/features/operations/search-field";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Field } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { LoadingRows } from "@/components/ui/skeleton";
import { listContacts } from "@/lib/api-client/calls.gen";
import { ApproveContactDialog } from "./approve-contact-dialog";
import { ContactDialog, type ContactDraft } from "./contact-dialog";
import { filterContacts, tagsOf } from "./contact-filter";
import { ContactTable } from "./contact-table";
import { DeleteContactDialog } from "./delete-contact-dialog";
import { useContacts, type Contact } from "./use-contacts";

const ALL = "all";
const FILTERS = { q: parseAsString, tag: parseAsString };
const NEW: ContactDraft = { contact: null, name: "" };

/** The project's address book: who its addresses belong to. */
export const Contacts = (): ReactNode => {
  const { data, error, isPending, refetch } = useContacts();
  const [filter, setFilter] = useQueryStates(FILTERS, { history: "replace" });
  const [adding, setAdding] = useQueryState("new", parseAsBoolean.withDefault(false));
  const [draft, setDraft] = useState<ContactDraft | null>(null);
  const [approvingId, setApprovingId] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<Contact | null>(null);
  const search = useCallback((q: string) => void setFilter({ q: q === "" ? null : q }), [setFilter]);
  const contacts = data?.data ?? [];
  useReopen("contact.approve ", setApprovingId);
  const approving = contacts.find(({ id }) => id === approvingId) ?? null;
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
        description="Names for the addresses that you pay. Addresses that look like them are flagged."
        actions={add}
      />
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-end gap-2">
          <SearchField value={filter.q ?? ""} placeholder="Name, address or tag" onSettle={search} />
          <TagFilter tags={tagsOf(contacts)} value={filter.tag} onChange={(tag) => void setFilter({ tag })} />
        </div>
        <Card flush>
          {isPending ? (
            <LoadingRows what="contacts" cards />
          ) : data === undefined ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : contacts.length === 0 ? (
            <EmptyState icon={BookUser} title="No contacts yet" action={add}>
              An address that has a name here is recognised wherever it is typed.
            </EmptyState>
          ) : found.length === 0 ? (
            <EmptyState
              icon={BookUser}
              title="No contact fits the search"
              action={<Button onClick={() => void setFilter({ q: null, tag: null })}>Show all contacts</Button>}
            />
          ) : (
            <ContactTable
              contacts={found}
              all={contacts}
              onTag={(tag) => void setFilter({ tag })}
              onEdit={(contact) => setDraft({ contact, name: contact.name })}
              onAddAddress={({ name }) => setDraft({ contact: null, name })}
              onApprove={({ id }) => setApprovingId(id)}
              onDelete={setDeleting}
            />
          )}
        </Card>
        <ApiSnippet method="GET" path={listContacts.path} />
      </div>
      <ContactDialog
        draft={draft ?? (adding ? NEW : null)}
        onClose={() => {
          setDraft(null);
          void setAdding(null);
        }}
      />
      <ApproveContactDialog contact={approving} onClose={() => setApprovingId(null)} />
      <DeleteContactDialog contact={deleting} onClose={() => setDeleting(null)} />
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
  // Without any tag it stays, so that the list below does not move once its tags are known.
  return (
    <Field label="Tag" labelHidden className="w-44">
      <Select
        value={value ?? ALL}
        onValueChange={(next) => onChange(next === ALL ? null : next)}
        options={[{ value: ALL, label: "All tags" }, ...known.map((tag) => ({ value: tag, label: tag }))]}
      />
    </Field>
  );
};

"use client";

import { useQuery } from "@tanstack/react-query";
import { KeyRound, ScrollText } from "lucide-react";
import Link from "next/link";
import { parseAsString, useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { spanOf } from "@/components/features/operations/filter-model";
import { SearchField } from "@/components/features/operations/search-field";
import { useMay } from "@/components/features/projects/use-project";
import { useMe } from "@/components/features/profile/use-me";
import { ExportMenu } from "@/components/features/exports/export-menu";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi } from "@/components/features/session/use-api";
import { AddressMark, PublicId, shorten } from "@/components/ui/address";
import { CopyButton } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { CodeBlock } from "@/components/ui/code-block";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState, QueryContent } from "@/components/ui/states";
import { DayInput, Field } from "@/components/ui/field";
import { useHideableJson, useHideableText } from "@/components/ui/hidden-amounts";
import { PageHeader } from "@/components/ui/page-header";
import { type Column, Pager, Table } from "@/components/ui/table";
import { Shortened } from "@/components/ui/shortened";
import { Time } from "@/components/ui/time";
import { exportAuditLog, listAuditLog } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { countText } from "@/lib/core/amount-text";
import { usePersonAddresses } from "./names";
import { actionWords, subjectView } from "./words";

const PAGE = 50;
const REFRESH_MS = 5000;

const columnsOf = (
  nameOf: NameInEntry,
  onOpen: (id: string) => void,
): readonly Column<Entry>[] => [
  {
    id: "action",
    header: "What",
    phone: "title",
    cell: ({ id, action }) => (
      <button
        type="button"
        className="row-link text-left font-medium"
        onClick={() => onOpen(id)}
      >
        {actionWords(action)}
      </button>
    ),
  },
  {
    id: "actor",
    header: "Who",
    bare: true,
    cell: ({ actor, actorName }) => <ActorName id={actor} name={nameOf(actor, actorName)} />,
  },
  {
    id: "subject",
    header: "On what",
    grow: true,
    cell: ({ subject, subjectName }) =>
      subject === null ? "–" : <Subject id={subject} name={subjectName} />,
  },
  {
    id: "from",
    header: "From",
    phone: "hidden",
    priority: "medium",
    cell: ({ clientAddress }) => <span className="num">{clientAddress ?? "–"}</span>,
  },
  {
    id: "at",
    header: "When",
    align: "right",
    phone: "aside",
    cell: ({ createdAt }) => <Time value={createdAt} />,
  },
];

/**
 * Converts the filters in the page's address to the API's query. Days are in the reader's time
 * zone.
 */
const toQuery = ({
  q,
  from,
  to,
}: {
  q: string | null;
  from: string | null;
  to: string | null;
}) => ({
  text: q === null || q === "" ? undefined : q,
  from: spanOf(from).from,
  to: spanOf(to).to,
});

/** The page of the audit log, which only owners and admins see. */
export const AuditLog = (): ReactNode => {
  const may = useMay("audit:read");
  const [state, set] = useQueryStates(
    {
      q: parseAsString,
      from: parseAsString,
      to: parseAsString,
      cursor: parseAsString,
      entry: parseAsString,
    },
    { history: "replace" },
  );
  const filters = toQuery(state);
  const query = {
    ...filters,
    limit: PAGE,
    cursor: state.cursor ?? undefined,
  };
  const list = useQuery({ ...apiQuery(listAuditLog, { query }), refetchInterval: REFRESH_MS });
  const { data } = list;
  const nameOf = useNameInEntry();
  const shown = data?.data.find(({ id }) => id === state.entry);
  const day = (name: "from" | "to", label: string): ReactNode => (
    <Field label={label}>
      <DayInput
        value={state[name]}
        onChange={(next) => void set({ [name]: next, cursor: null })}
      />
    </Field>
  );
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Every change, by whom and when. Entries are chained by hashes and never deleted."
        actions={may ? <AuditExport filters={filters} /> : null}
      />
      <Card flush title="Entries">
        <div className="flex flex-wrap items-end gap-2 border-b px-4 py-3">
          <SearchField
            value={state.q ?? ""}
            placeholder="Action, id, address, name or amount"
            onSettle={(q) => void set({ q: q === "" ? null : q, cursor: null })}
          />
          {day("from", "From")}
          {day("to", "To")}
        </div>
        <QueryContent
          query={list}
          what="the audit log"
          money="Nothing is lost: entries go on being recorded."
          empty={
            <EmptyState icon={ScrollText} title="No entries here">
              Search for something else, or choose other days.
            </EmptyState>
          }
        >
          {(data) => (
            <Table
              caption="Audit log"
              columns={columnsOf(nameOf, (entry) => void set({ entry }))}
              rows={data.data}
              rowKey={({ id }) => id}
            />
          )}
        </QueryContent>
        <Pager
          cursor={state.cursor}
          nextCursor={data?.nextCursor}
          onCursor={(next) => void set({ cursor: next })}
        />
      </Card>
      {shown === undefined ? null : (
        <EntryDialog
          entry={shown}
          actorName={nameOf(shown.actor, shown.actorName)}
          onClose={() => void set({ entry: null })}
        />
      )}
    </>
  );
};

/** Exports all filtered entries, including those on other pages. */
const AuditExport = ({
  filters,
}: {
  readonly filters: ReturnType<typeof toQuery>;
}): ReactNode => {
  const api = useApi();
  return (
    <ExportMenu
      kind="audit_log"
      query={filters}
      makeCsv={async () => ({
        text: await api.call(exportAuditLog, { query: filters }),
        name: `causeway-audit-log-${new Date().toISOString().slice(0, 10)}.csv`,
      })}
    />
  );
};

type Entry = ResponseOf<typeof listAuditLog>["data"][number];

interface EntryDialogProps {
  readonly entry: Entry;
  readonly actorName: string;
  readonly onClose: () => void;
}

const EntryDialog = ({ entry, actorName, onClose }: EntryDialogProps): ReactNode => {
  const hideable = useHideableJson();
  return (
    <Dialog onClose={onClose} title={actionWords(entry.action)} size="lg">
      <div className="flex flex-col gap-4">
        <Facts>
          <Fact label="Who">
            <ActorName id={entry.actor} name={actorName} />
          </Fact>
          <Fact label="When">
            <Time value={entry.createdAt} absolute />
          </Fact>
          <Fact label="On what">
            {entry.subject === null ? (
              "–"
            ) : (
              <Subject id={entry.subject} name={entry.subjectName} />
            )}
          </Fact>
          <Fact label="From">{entry.clientAddress ?? "Not known"}</Fact>
          <Fact label="Request">
            {entry.requestId === null ? "None" : <PublicId value={entry.requestId} />}
          </Fact>
          <Fact label="Chain">
            {entry.seq === null
              ? "Not linked yet; this takes a second"
              : `Link ${countText(entry.seq)}`}
          </Fact>
          {entry.hash === null ? null : (
            <Fact label="Hash">
              <PublicId value={entry.hash} />
            </Fact>
          )}
        </Facts>
        <CodeBlock
          wrap
          label="details of the entry"
          code={hideable(JSON.stringify(entry.data, null, 2))}
        />
      </div>
    </Dialog>
  );
};

interface ActorNameProps {
  readonly id: string;
  readonly name: string;
}

const ActorName = ({ id, name }: ActorNameProps): ReactNode => {
  const addresses = usePersonAddresses();
  return (
    <span className="inline-flex max-w-56 min-w-0 items-center gap-1.5 align-middle" title={id}>
      {id.startsWith("key_") ? (
        <KeyRound className="size-4 shrink-0 text-fg-3" aria-hidden />
      ) : (
        <AddressMark value={addresses.get(id) ?? id} />
      )}
      <span className="truncate">{name}</span>
      <CopyButton value={id} label="Copy id" />
    </span>
  );
};

/**
 * Returns the actor's name: `You`, an e-mail address, `Key Payroll backend`, or a part of the
 * service. `name` is the name that the entry stores; null when it stores none.
 */
type NameInEntry = (actor: string, name: string | null) => string;

const HEAD = 8;

const useNameInEntry = (): NameInEntry => {
  const me = useMe().data;
  return (actor, name) => {
    if (actor === me?.id) return "You";
    if (name === null) return shorten(actor, HEAD);
    if (actor.startsWith("key_")) return `Key ${name}`;
    return name.startsWith("0x") ? shorten(name) : name;
  };
};

interface SubjectProps {
  readonly id: string;
  readonly name: string | null;
}

const Subject = ({ id, name }: SubjectProps): ReactNode => {
  const { word, href } = subjectView(id);
  const hideable = useHideableText();
  const shownName = name?.startsWith("0x") === true ? shorten(name) : hideable(name ?? word);
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-1.5 align-middle">
      {href === null ? (
        <Shortened detail={id}>{shownName}</Shortened>
      ) : (
        <Link href={href} className="link truncate" title={`${shownName}, ${id}`}>
          {shownName}
        </Link>
      )}
      <CopyButton value={id} label="Copy id" />
    </span>
  );
};

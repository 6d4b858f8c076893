"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { Activity, Plus, Webhook } from "lucide-react";
import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { type ReactNode, useState } from "react";
import { Controller, useForm } from "react-hook-form";
import { useQuery } from "@tanstack/react-query";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { apiQuery } from "@/components/features/session/api-query";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { PublicId } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/field";
import { FormDialog, TextField } from "@/components/ui/form";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState, QueryCard } from "@/components/ui/states";
import { Shortened } from "@/components/ui/shortened";
import { type Column, RowLink, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import {
  createWebhookEndpoint,
  listEvents,
  listWebhookEndpoints,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { EVENT_GROUPS } from "@/lib/contracts/events";
import {
  type Endpoint,
  endpointName,
  type NewEndpoint,
  shortUrl,
  useEndpoints,
} from "./endpoint";
import { EndpointBadge, SigningSecretDialog } from "./endpoint-parts";

const REFRESH_MS = 5000;

const eventsOf = ({ events }: Endpoint): string =>
  events.includes("*") ? "All events" : events.join(", ");

/** An endpoint's name and URL. The full URL is on its page and in the title. */
const NameAndUrl = ({ endpoint }: { readonly endpoint: Endpoint }): ReactNode => {
  const [name, url] = [endpointName(endpoint), shortUrl(endpoint.url)];
  return (
    <span className="flex min-w-0 items-baseline gap-x-3">
      <RowLink href={`/webhooks/${endpoint.id}`}>{name}</RowLink>
      {name === url ? null : (
        <Shortened className="flex-1 text-sm font-normal text-fg-3" detail={endpoint.url}>
          {url}
        </Shortened>
      )}
    </span>
  );
};

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    id: "url",
    header: "Endpoint",
    phone: "title",
    cell: (endpoint) => <NameAndUrl endpoint={endpoint} />,
  },
  {
    id: "events",
    header: "Events",
    phone: "hidden",
    priority: "medium",
    cell: (endpoint) => (
      <span className="block max-w-60 truncate" title={eventsOf(endpoint)}>
        {eventsOf(endpoint)}
      </span>
    ),
  },
  {
    id: "status",
    header: "Status",
    phone: "aside",
    cell: (endpoint) => <EndpointBadge endpoint={endpoint} />,
  },
  {
    id: "pending",
    header: "Waiting",
    align: "right",
    cell: (endpoint) => <span className="num">{endpoint.pending}</span>,
  },
  {
    id: "created",
    header: "Created",
    phone: "hidden",
    priority: "low",
    cell: (endpoint) => <Time value={endpoint.createdAt} />,
  },
];

export const Webhooks = (): ReactNode => {
  const query = useEndpoints(REFRESH_MS);
  const { env } = usePublicConfig();
  const [creating, setCreating] = useQueryState("create", parseAsStringLiteral(["1"]));
  const [made, setMade] = useState<NewEndpoint | null>(null);
  const create = (
    <Button variant="primary" onClick={() => void setCreating("1")}>
      <Plus aria-hidden /> New endpoint
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Send events to your own servers. Their numbers show a receiver when one is missing."
        actions={create}
      />
      <div className="flex flex-col gap-4">
        <QueryCard
          title="Endpoints"
          query={query}
          what="endpoints"
          money="Deliveries go on; only this list could not be read."
          empty={
            <EmptyState icon={Webhook} title="No endpoints yet" action={create}>
              Add the URL of a server of yours, and choose which events it gets.
              {env === "development" ? (
                <>
                  {" "}
                  Without a server, use the{" "}
                  <Link href="/dev/webhooks" className="link">
                    local receiver
                  </Link>
                  .
                </>
              ) : null}
            </EmptyState>
          }
        >
          {(data) => (
            <Table
              caption="Endpoints"
              columns={COLUMNS}
              rows={data.data}
              rowKey={({ id }) => id}
            />
          )}
        </QueryCard>
        {env === "development" ? <EventTail /> : null}
        <ApiSnippet call={listEvents} query={{ after: 0 }} auth="bearer" />
      </div>
      {creating === "1" ? (
        <CreateEndpointDialog onClose={() => void setCreating(null)} onCreated={setMade} />
      ) : null}
      <SigningSecretDialog made={made} onClose={() => setMade(null)} />
    </>
  );
};

interface CreateEndpointDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (endpoint: NewEndpoint) => void;
}

const EXAMPLE_URL = "https://example.org/webhooks";
const URL_MAX = 2000;

/**
 * Checks only that the URL is present and not too long, because the service decides which URLs are
 * allowed.
 */
const endpointForm = z.object({
  url: z.string().trim().min(1, "Enter the URL of your receiver.").max(URL_MAX),
  events: z.array(z.string()).min(1, "Choose at least one event."),
  thin: z.boolean(),
  includePrivate: z.boolean(),
});
type EndpointValues = z.infer<typeof endpointForm>;

const toBody = ({ url, events, thin, includePrivate }: EndpointValues) => ({
  url: url.trim(),
  events,
  payload: thin ? ("thin" as const) : ("full" as const),
  includePrivate,
});

const CreateEndpointDialog = ({ onClose, onCreated }: CreateEndpointDialogProps): ReactNode => {
  const cache = useCache();
  const create = useApiMutation(createWebhookEndpoint);
  const form = useForm({
    resolver: zodResolver(endpointForm),
    defaultValues: { url: "", events: ["*"], thin: false, includePrivate: false },
  });
  const body = toBody(form.watch());
  return (
    <FormDialog
      onClose={onClose}
      title="New endpoint"
      size="lg"
      long
      form={form}
      mutation={create}
      onSubmit={async (values) => {
        onCreated(await create.mutateAsync({ body: toBody(values) }));
        void cache.refresh(listWebhookEndpoints);
      }}
      money="No endpoint was made."
      act="Create endpoint"
      snippet={
        <ApiSnippet
          call={createWebhookEndpoint}
          auth="bearer"
          body={{ ...body, url: body.url === "" ? EXAMPLE_URL : body.url }}
        />
      }
    >
      <TextField
        control={form.control}
        name="url"
        label="URL"
        hint="It must be reachable from the internet, and answer with a 2xx status within 15 seconds."
        input={{ type: "url", placeholder: EXAMPLE_URL, maxLength: URL_MAX, autoFocus: true }}
      />
      <Controller
        control={form.control}
        name="events"
        render={({ field, fieldState }) => (
          <EventPicker
            value={field.value}
            onChange={field.onChange}
            error={fieldState.error?.message}
          />
        )}
      />
      <Checkbox
        label="Thin payload: names the object, without its details"
        {...form.register("thin")}
      />
      <Checkbox
        label="Details of private movements: without this, their events show id, type and number alone"
        {...form.register("includePrivate")}
      />
    </FormDialog>
  );
};

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

const EventPicker = ({ value, onChange, error }: EventPickerProps): ReactNode => (
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

type Event = ResponseOf<typeof listEvents>["data"][number];

const SHOWN = 20;
const TAIL_REFRESH_MS = 2000;

const TAIL_COLUMNS: readonly Column<Event>[] = [
  {
    id: "type",
    header: "Event",
    phone: "title",
    cell: ({ type }) => <code className="font-mono text-sm">{type}</code>,
  },
  {
    id: "sequence",
    header: "Number",
    align: "right",
    phone: "aside",
    cell: ({ sequence }) => <span className="num">{sequence}</span>,
  },
  {
    id: "object",
    header: "Object",
    bare: true,
    cell: ({ objectId }) =>
      objectId === undefined ? "private" : <PublicId value={objectId} />,
  },
  {
    id: "at",
    header: "When",
    align: "right",
    bare: true,
    cell: ({ createdAt }) => (createdAt === undefined ? "–" : <Time value={createdAt} />),
  },
];

const EventTail = (): ReactNode => {
  const newest = useQuery({
    ...apiQuery(listEvents, { query: { limit: 1 } }),
    refetchInterval: TAIL_REFRESH_MS,
  });
  const last = newest.data?.lastSequence ?? 0;
  const query = { after: Math.max(0, last - SHOWN), limit: SHOWN };
  const list = useQuery({
    ...apiQuery(listEvents, { query }),
    enabled: newest.data !== undefined,
  });
  const { data } = list;
  const rows = [...(data?.data ?? [])].reverse();
  return (
    <QueryCard
      title="Latest events"
      description="Events that endpoints can receive, newest first."
      query={list}
      what="events"
      money="Nothing is lost; the events are stored."
    >
      {() =>
        rows.length === 0 ? (
          <EmptyState icon={Activity} title="Nothing has happened yet">
            An event appears with the first transfer, payout or API key.
          </EmptyState>
        ) : (
          <Table
            caption="Latest events"
            columns={TAIL_COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )
      }
    </QueryCard>
  );
};

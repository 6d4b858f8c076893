"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import {
  Ban,
  CircleCheck,
  CirclePause,
  ClockAlert,
  KeyRound,
  type LucideIcon,
  Plus,
} from "lucide-react";
import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ChangeForm } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { usePolicies } from "@/components/features/policies/use-policies";
import { type MadeName, RestoreDialog } from "@/components/features/session-made/made-things";
import { useApi, useApiMutation, useCache } from "@/components/features/session/use-api";
import { Usd } from "@/components/ui/amount";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ActionDialog } from "@/components/ui/dialog";
import { EmptyState, QueryCard } from "@/components/ui/states";
import { ControlField } from "@/components/ui/form";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { type Column, RowName, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { listApiKeys, revokeApiKey, rotateApiKey } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import { isMoreUsd } from "@/lib/core/usd";
import { type ApiKey, useApiKeys } from "./use-api-keys";
import { CreateKeyDialog, EditKeyDialog, type NewKey, SecretDialog } from "./key-dialogs";
import { describeScopes } from "./key-form";

const isExpired = (key: ApiKey): boolean =>
  key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now();

const viewOf = (key: ApiKey): { word: string; tone: Tone; icon: LucideIcon } => {
  if (key.revokedAt !== null) return { word: "Revoked", tone: "neutral", icon: Ban };
  if (key.suspendedAt !== null)
    return { word: "Suspended", tone: "warning", icon: CirclePause };
  if (isExpired(key)) return { word: "Expired", tone: "warning", icon: ClockAlert };
  return { word: "Active", tone: "success", icon: CircleCheck };
};

const WHY_SUSPENDED =
  "It was made without a code or a signature, and the session that made it was ended. Requests with it are refused until it is restored.";

const StateBadge = ({ apiKey }: { readonly apiKey: ApiKey }): ReactNode => {
  const { word, tone, icon } = viewOf(apiKey);
  const badge = (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
  return word === "Suspended" ? <span title={WHY_SUSPENDED}>{badge}</span> : badge;
};

const RequestsLink = ({ apiKey }: { readonly apiKey: ApiKey }): ReactNode => (
  <Button asChild size="sm" variant="ghost">
    <Link href={`/api-keys/${apiKey.id}`} aria-label={`Requests of ${apiKey.name}`}>
      Requests
    </Link>
  </Button>
);

const RestoreButton = ({
  apiKey: { id, name, suspendedAt },
}: {
  readonly apiKey: ApiKey;
}): ReactNode => {
  const [items, setItems] = useState<readonly MadeName[] | null>(null);
  if (suspendedAt === null) return null;
  return (
    <>
      <Button
        size="sm"
        aria-label={`Restore ${name}`}
        onClick={() => setItems([{ kind: "api_key", id }])}
      >
        Restore …
      </Button>
      {items === null ? null : <RestoreDialog items={items} onClose={() => setItems(null)} />}
    </>
  );
};

interface Actions {
  readonly onEdit: (key: ApiKey) => void;
  readonly onRotate: (key: ApiKey) => void;
  readonly onRevoke: (key: ApiKey) => void;
  readonly projectCap: string | undefined;
}

const LastUsed = ({ apiKey }: { readonly apiKey: ApiKey }): ReactNode =>
  apiKey.lastUsedAt === null ? (
    "never"
  ) : (
    <span className="flex flex-col">
      <Time value={apiKey.lastUsedAt} />
      {apiKey.lastUsedAddress === null ? null : (
        <span className="num text-sm text-fg-3">from {apiKey.lastUsedAddress}</span>
      )}
    </span>
  );

const columnsOf = ({
  onEdit,
  onRotate,
  onRevoke,
  projectCap,
}: Actions): readonly Column<ApiKey>[] => [
  {
    id: "name",
    header: "Name",
    phone: "title",
    cell: (key) => <RowName>{key.name}</RowName>,
  },
  {
    id: "key",
    header: "Key",
    bare: true,
    cell: (key) => (
      <span className="flex flex-col">
        <code className="font-mono text-sm whitespace-nowrap">{`${key.prefix}…${key.last4}`}</code>
        {key.previous !== null && Date.parse(key.previous.until) > Date.now() ? (
          <span className="text-sm text-fg-3">
            …{key.previous.last4} ends <Time value={key.previous.until} />
          </span>
        ) : null}
      </span>
    ),
  },
  {
    id: "scopes",
    header: "Scopes",
    phone: "hidden",
    priority: "medium",
    cell: (key) => <span title={key.scopes.join(", ")}>{describeScopes(key.scopes)}</span>,
  },
  {
    id: "policy",
    header: "Moves money",
    phone: "hidden",
    priority: "low",
    cell: (key) => <KeyPolicy apiKey={key} projectCap={projectCap} />,
  },
  { id: "state", header: "Status", phone: "aside", cell: (key) => <StateBadge apiKey={key} /> },
  {
    id: "created",
    header: "Created",
    phone: "hidden",
    priority: "lowest",
    cell: (key) => <Time value={key.createdAt} />,
  },
  {
    id: "used",
    header: "Last used",
    phone: "hidden",
    priority: "medium",
    cell: (key) => <LastUsed apiKey={key} />,
  },
  {
    id: "expires",
    header: "Expires",
    phone: "hidden",
    priority: "low",
    cell: (key) => (key.expiresAt === null ? "never" : <Time value={key.expiresAt} />),
  },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    bare: true,
    cell: (key) =>
      key.revokedAt === null ? (
        <span className="flex flex-wrap justify-end gap-1 @min-[44rem]:flex-nowrap">
          <RestoreButton apiKey={key} />
          <RequestsLink apiKey={key} />
          <Button
            size="sm"
            variant="ghost"
            aria-label={`Edit ${key.name}`}
            onClick={() => onEdit(key)}
          >
            Edit
          </Button>
          <Button
            size="sm"
            variant="ghost"
            aria-label={`Make a new secret for ${key.name}`}
            onClick={() => onRotate(key)}
          >
            Rotate
          </Button>
          <Button
            size="sm"
            variant="ghost"
            aria-label={`Revoke ${key.name}`}
            onClick={() => onRevoke(key)}
          >
            Revoke
          </Button>
        </span>
      ) : (
        <RequestsLink apiKey={key} />
      ),
  },
];

export const ApiKeys = (): ReactNode => {
  const query = useApiKeys();
  const { data } = query;
  const [creating, setCreating] = useQueryState("create", parseAsStringLiteral(["1"]));
  const [made, setMade] = useState<NewKey | null>(null);
  const [editingId, setEditingId] = useState<string | null>(null);
  const [rotatingId, setRotatingId] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  useReopen("api_key.edit ", setEditingId);
  useReopen("api_key.rotate ", setRotatingId);
  const keyOf = (id: string | null): ApiKey | null =>
    data?.data.find((key) => key.id === id) ?? null;
  const [editing, rotating] = [keyOf(editingId), keyOf(rotatingId)];
  const projectCap = usePolicies().data?.dailyCapUsd;
  const create = (
    <Button variant="primary" onClick={() => void setCreating("1")}>
      <Plus aria-hidden /> New API key
    </Button>
  );
  return (
    <>
      <PageHeader
        title="API keys"
        description="Your own code signs in with a key of the project. Its secret is shown once."
        actions={create}
      />
      <div className="flex flex-col gap-4">
        <QueryCard
          query={query}
          what="API keys"
          money="Keys go on working; only this list could not be read."
          empty={
            <EmptyState icon={KeyRound} title="No API keys yet" action={create}>
              Make one for each program that uses the service, so that each can be revoked by
              itself.
            </EmptyState>
          }
        >
          {(data) => (
            <Table
              caption="API keys"
              columns={columnsOf({
                onEdit: ({ id }) => setEditingId(id),
                onRotate: ({ id }) => setRotatingId(id),
                onRevoke: setRevoking,
                projectCap,
              })}
              rows={data.data}
              rowKey={(key) => key.id}
            />
          )}
        </QueryCard>
        <ApiSnippet call={listApiKeys} auth="bearer" />
      </div>
      {creating === "1" ? (
        <CreateKeyDialog
          onClose={() => void setCreating(null)}
          onCreated={(key) => {
            void setCreating(null);
            setMade(key);
          }}
        />
      ) : null}
      <SecretDialog made={made} onClose={() => setMade(null)} />
      {editing === null ? null : (
        <EditKeyDialog apiKey={editing} onClose={() => setEditingId(null)} />
      )}
      {rotating === null ? null : (
        <RotateDialog
          apiKey={rotating}
          onRotated={(key) => {
            setRotatingId(null);
            setMade(key);
          }}
          onClose={() => setRotatingId(null)}
        />
      )}
      <RevokeDialog apiKey={revoking} onClose={() => setRevoking(null)} />
    </>
  );
};

const MOVING = new Set([
  "swaps:write",
  "transfers:write",
  "payouts:write",
  "operations:write",
  "privacy:write",
]);

interface KeyPolicyProps {
  readonly apiKey: ApiKey;
  /**
   * The project's daily limit in US dollars, which also bounds keys with a higher limit; undefined
   * while it loads.
   */
  readonly projectCap: string | undefined;
}

const smaller = (a: string, b: string | undefined): string =>
  b !== undefined && isMoreUsd(a, b) ? b : a;

/**
 * A short text of how much a key may move without a person's code, and to which recipients. The
 * tooltip has the full text.
 */
const KeyPolicy = ({ apiKey, projectCap }: KeyPolicyProps): ReactNode => {
  if (!apiKey.scopes.some((scope) => MOVING.has(scope)))
    return <span className="text-fg-3">nothing</span>;
  const { recipients } = apiKey;
  return (
    <span className="flex flex-col py-1 leading-tight max-md:items-end">
      <span className="whitespace-nowrap">
        {apiKey.otp === "required" || apiKey.dailyCapUsd === null ? (
          "with a code"
        ) : (
          <>
            up to <Usd value={smaller(apiKey.dailyCapUsd, projectCap)} /> a day
          </>
        )}
      </span>
      <span className="text-sm whitespace-nowrap text-fg-3" title={recipients.join("\n")}>
        {recipients.length === 0
          ? "to any address"
          : `to ${String(recipients.length)} ${recipients.length === 1 ? "address" : "addresses"}`}
      </span>
    </span>
  );
};

interface RevokeDialogProps {
  readonly apiKey: ApiKey | null;
  readonly onClose: () => void;
}

const RevokeDialog = ({ apiKey, onClose }: RevokeDialogProps): ReactNode => {
  const revoke = useApiMutation(revokeApiKey);
  const cache = useCache();
  if (apiKey === null) return null;
  return (
    <ActionDialog
      onClose={onClose}
      title={`Revoke “${apiKey.name}”?`}
      description={
        <p>
          Programs that use{" "}
          <code className="font-mono text-sm">{`${apiKey.prefix}…${apiKey.last4}`}</code> are
          refused within a second. This cannot be undone. Operations that run go on.
        </p>
      }
      action={revoke}
      money="The key still works."
      confirmLabel="Revoke key"
      onConfirm={async () => {
        await revoke.mutateAsync({ params: { id: apiKey.id } });
        toast.success(`The key “${apiKey.name}” is revoked.`);
        await cache.refresh(listApiKeys);
      }}
    />
  );
};

interface RotateDialogProps {
  readonly apiKey: ApiKey;
  readonly onRotated: (key: NewKey) => void;
  readonly onClose: () => void;
}

const OVERLAPS = [
  { value: "0", label: "At once: the secret has leaked" },
  { value: "3600", label: "In an hour" },
  { value: "86400", label: "In a day" },
  { value: "604800", label: "In seven days" },
] as const;

const form = z.object({ overlap: z.string() });

/**
 * Creates a new secret for a key. The old secret works for a chosen time, so that programs can
 * switch without an interruption.
 */
const RotateDialog = ({ apiKey, onRotated, onClose }: RotateDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const state = useForm<z.output<typeof form>>({
    resolver: zodResolver(form),
    defaultValues: { overlap: "86400" },
  });
  const rotate = useApprovable<BodyInput<typeof rotateApiKey>>(
    `api_key.rotate ${apiKey.id}`,
    async (body, proof) => {
      const made = await api.call(rotateApiKey, {
        params: { id: apiKey.id },
        body: { ...body, ...proof },
      });
      onRotated(made);
      await cache.refresh(listApiKeys);
    },
  );
  const body = { overlapSeconds: Number(state.watch("overlap")) };
  return (
    <ChangeForm
      change={rotate}
      onClose={onClose}
      title={`New secret for “${apiKey.name}”`}
      description={`The key keeps its id, its rights and its limits. The secret that ends in ${apiKey.last4} still works for a while.`}
      form={state}
      onSubmit={({ overlap }) => rotate.start({ overlapSeconds: Number(overlap) })}
      money="The key is as it was."
      act="Make new secret"
      snippet={
        <ApiSnippet call={rotateApiKey} params={{ id: apiKey.id }} auth="bearer" body={body} />
      }
    >
      <ControlField control={state.control} name="overlap" label="The present secret ends">
        {(bound) => <Select {...bound} options={OVERLAPS} />}
      </ControlField>
    </ChangeForm>
  );
};

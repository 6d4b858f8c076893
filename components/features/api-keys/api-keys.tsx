"use client";

import { Ban, CircleCheck, ClockAlert, KeyRound, Plus, type LucideIcon } from "lucide-react";
import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useReopen } from "@/components/features/approvals/use-reopen";
import { usePolicies } from "@/components/features/policies/use-policies";
import { useApiQuery } from "@/components/features/session/use-api";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { listApiKeys } from "@/lib/api-client/calls.gen";
import { KeyPolicy } from "./key-policy";
import { CreateKeyDialog } from "./create-key-dialog";
import { EditKeyDialog } from "./edit-key-dialog";
import type { ApiKey } from "./api-key";
import { describeScopes } from "./presets";
import { RevokeDialog } from "./revoke-dialog";
import { RotateDialog } from "./rotate-dialog";
import { SecretDialog, type NewKey } from "./secret-dialog";

const isExpired = (key: ApiKey): boolean => key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now();

const viewOf = (key: ApiKey): { word: string; tone: Tone; icon: LucideIcon } => {
  if (key.revokedAt !== null) return { word: "Revoked", tone: "neutral", icon: Ban };
  if (isExpired(key)) return { word: "Expired", tone: "warning", icon: ClockAlert };
  return { word: "Active", tone: "success", icon: CircleCheck };
};

const StateBadge = ({ apiKey }: { readonly apiKey: ApiKey }): ReactNode => {
  const { word, tone, icon } = viewOf(apiKey);
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
};

const RequestsLink = ({ apiKey }: { readonly apiKey: ApiKey }): ReactNode => (
  <Button asChild size="sm" variant="ghost">
    <Link href={`/api-keys/${apiKey.id}`} aria-label={`Requests of ${apiKey.name}`}>
      Requests
    </Link>
  </Button>
);

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

const columnsOf = ({ onEdit, onRotate, onRevoke, projectCap }: Actions): readonly Column<ApiKey>[] => [
  { id: "name", header: "Name", phone: "title", cell: (key) => <span className="font-medium">{key.name}</span> },
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
  { id: "used", header: "Last used", phone: "hidden", priority: "medium", cell: (key) => <LastUsed apiKey={key} /> },
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
        <span className="flex flex-wrap justify-end gap-1 @min-[40rem]:flex-nowrap">
          <RequestsLink apiKey={key} />
          <Button size="sm" variant="ghost" aria-label={`Edit ${key.name}`} onClick={() => onEdit(key)}>
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
          <Button size="sm" variant="ghost" aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
            Revoke
          </Button>
        </span>
      ) : (
        <RequestsLink apiKey={key} />
      ),
  },
];

export const ApiKeys = (): ReactNode => {
  const { data, error, isPending, refetch } = useApiQuery(listApiKeys, {});
  const [creating, setCreating] = useQueryState("create", parseAsStringLiteral(["1"]));
  const [made, setMade] = useState<NewKey | null>(null);
  const [editingId, setEditingId] = useState<string | null>(null);
  const [rotatingId, setRotatingId] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  useReopen("api_key.edit ", setEditingId);
  useReopen("api_key.rotate ", setRotatingId);
  const keyOf = (id: string | null): ApiKey | null => data?.data.find((key) => key.id === id) ?? null;
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
        <Card flush>
          {isPending ? (
            <LoadingRows what="API keys" />
          ) : data === undefined ? (
            <ErrorState
              error={error}
              money="Keys go on working; only this list could not be read."
              onRetry={() => void refetch()}
            />
          ) : data.data.length === 0 ? (
            <EmptyState icon={KeyRound} title="No API keys yet" action={create}>
              Make one for each program that uses the service, so that each can be revoked by itself.
            </EmptyState>
          ) : (
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
        </Card>
        <ApiSnippet method="GET" path="/auth/api-keys" auth="bearer" />
      </div>
      <CreateKeyDialog
        open={creating === "1"}
        onOpenChange={(open) => void setCreating(open ? "1" : null)}
        onCreated={(key) => {
          void setCreating(null);
          setMade(key);
        }}
      />
      <SecretDialog made={made} onClose={() => setMade(null)} />
      <EditKeyDialog apiKey={keyOf(editingId)} onClose={() => setEditingId(null)} />
      <RotateDialog
        apiKey={keyOf(rotatingId)}
        onRotated={(key) => {
          setRotatingId(null);
          setMade(key);
        }}
        onClose={() => setRotatingId(null)}
      />
      <RevokeDialog apiKey={revoking} onClose={() => setRevoking(null)} />
    </>
  );
};

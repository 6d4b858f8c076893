"use client";

import { useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { addPasskey, listPasskeys, removePasskey, renamePasskey, startPasskey } from "@/lib/contracts/passkeys";
import { makePasskey, passkeyProblem } from "./browser-passkey";

type Passkey = ResponseOf<typeof addPasskey>;

const useReload = (): (() => Promise<void>) => {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: queryKeyOf(listPasskeys) });
};

/** The person's passkeys: add, rename, remove. */
export const Passkeys = ({ passkeys }: { readonly passkeys: readonly Passkey[] }): ReactNode => (
  <section aria-label="Passkeys" className="flex flex-col gap-3 p-4">
    <h3 className="font-semibold">Passkeys</h3>
    {passkeys.length === 0 ? <p className="text-fg-2">None yet. A passkey stays on your device.</p> : null}
    <ul className="flex flex-col gap-2">
      {passkeys.map((passkey) => (
        <PasskeyRow key={passkey.id} passkey={passkey} />
      ))}
    </ul>
    <AddPasskey />
  </section>
);

const PasskeyRow = ({ passkey }: { readonly passkey: Passkey }): ReactNode => {
  const [renaming, setRenaming] = useState(false);
  const api = useApi();
  const reload = useReload();
  const remove = useApprovable<string>(async (id, approval) => {
    await api.call(removePasskey, { params: { id }, body: approval ? { approval } : {} });
    await reload();
    toast.success("The passkey was removed.");
  });
  if (remove.asked !== null)
    return (
      <li>
        <ApprovalStep asked={remove.asked} change={remove} />
      </li>
    );
  return (
    <li className="flex flex-wrap items-center justify-between gap-2">
      {renaming ? (
        <Rename passkey={passkey} onDone={() => setRenaming(false)} />
      ) : (
        <>
          <span className="flex min-w-0 items-center gap-2">
            <KeyRound aria-hidden className="size-4 shrink-0 text-fg-3" />
            <span className="truncate font-medium">{passkey.name}</span>
            <span className="text-sm text-fg-3">
              {passkey.lastUsedAt === null ? (
                "never used"
              ) : (
                <>
                  last used <Time value={passkey.lastUsedAt} />
                </>
              )}
            </span>
          </span>
          <span className="flex gap-2">
            <Button size="sm" variant="ghost" aria-label={`Rename ${passkey.name}`} onClick={() => setRenaming(true)}>
              Rename
            </Button>
            <Button
              size="sm"
              aria-label={`Remove ${passkey.name}`}
              loading={remove.busy}
              onClick={() => void remove.start(passkey.id)}
            >
              Remove
            </Button>
          </span>
        </>
      )}
      {remove.error == null ? null : <ErrorState compact error={remove.error} />}
    </li>
  );
};

const Rename = ({ passkey, onDone }: { readonly passkey: Passkey; readonly onDone: () => void }): ReactNode => {
  const [name, setName] = useState(passkey.name);
  const rename = useApiMutation(renamePasskey);
  const reload = useReload();
  const save = async (): Promise<void> => {
    try {
      await rename.mutateAsync({ params: { id: passkey.id }, body: { name } });
    } catch {
      return;
    }
    await reload();
    onDone();
  };
  return (
    <form
      className="flex flex-1 flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field label="Name of the passkey" className="min-w-48 flex-1">
        <Input value={name} maxLength={60} onChange={(event) => setName(event.target.value)} autoFocus />
      </Field>
      <Button type="submit" variant="primary" loading={rename.isPending} disabled={name.trim() === ""}>
        Save
      </Button>
      <Button onClick={onDone}>Cancel</Button>
      {rename.isError ? <ErrorState compact error={rename.error} /> : null}
    </form>
  );
};

const AddPasskey = (): ReactNode => {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const api = useApi();
  const reload = useReload();
  const add = useApprovable<string>(async (wanted, approval) => {
    setProblem(null);
    const { options } = await api.call(startPasskey, { body: { name: wanted, ...(approval ? { approval } : {}) } });
    try {
      await api.call(addPasskey, { body: { credential: await makePasskey(options) } });
    } catch (error) {
      const why = passkeyProblem(error);
      if (why === null || (error as Error).name === "ApiError") throw error;
      setProblem(why);
      return;
    }
    setName("");
    await reload();
    toast.success("The passkey was added.");
  });
  if (add.asked !== null) return <ApprovalStep asked={add.asked} change={add} />;
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void add.start(name.trim());
      }}
    >
      <Field label="Name of a new passkey" className="min-w-48 flex-1">
        <Input value={name} maxLength={60} placeholder="Laptop" onChange={(event) => setName(event.target.value)} />
      </Field>
      <Button type="submit" loading={add.busy} disabled={name.trim() === ""}>
        Add a passkey
      </Button>
      {problem === null ? null : (
        <Alert tone="warning" title="No passkey was added">
          {problem}
        </Alert>
      )}
      {add.error == null ? null : <ErrorState compact error={add.error} />}
    </form>
  );
};

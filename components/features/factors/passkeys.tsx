"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiMutation } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Form, FormError, TextField } from "@/components/ui/form";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { addPasskey, listPasskeys, removePasskey, renamePasskey, startPasskey } from "@/lib/api-client/calls.gen";
import { makePasskey, passkeyProblem } from "./browser-passkey";

type Passkey = ResponseOf<typeof addPasskey>;

const NAME_MAX = 60;
const nameForm = z.object({ name: z.string().trim().min(1, "Enter a name.").max(NAME_MAX) });
type NameValues = z.infer<typeof nameForm>;

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
  const remove = useApprovable<string>("passkey.remove", async (id, approval) => {
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
  const form = useForm({ resolver: zodResolver(nameForm), defaultValues: { name: passkey.name } });
  const rename = useApiMutation(renamePasskey);
  const reload = useReload();
  const save = async ({ name }: NameValues): Promise<void> => {
    try {
      await rename.mutateAsync({ params: { id: passkey.id }, body: { name } });
    } catch {
      return;
    }
    await reload();
    onDone();
  };
  return (
    <Form form={form} error={rename.error} onSubmit={save} className="flex flex-1 flex-wrap items-end gap-2">
      <TextField
        control={form.control}
        name="name"
        label="Name of the passkey"
        className="min-w-48 flex-1"
        input={{ maxLength: NAME_MAX, autoFocus: true }}
      />
      <Button
        type="submit"
        variant="primary"
        loading={rename.isPending}
        disabled={!nameForm.safeParse(form.watch()).success}
      >
        Save
      </Button>
      <Button onClick={onDone}>Cancel</Button>
      <FormError money="The name is as it was." />
    </Form>
  );
};

const AddPasskey = (): ReactNode => {
  const form = useForm({ resolver: zodResolver(nameForm), defaultValues: { name: "" } });
  const [problem, setProblem] = useState<string | null>(null);
  const api = useApi();
  const reload = useReload();
  const add = useApprovable<string>("passkey.add", async (wanted, approval) => {
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
    form.reset();
    await reload();
    toast.success("The passkey was added.");
  });
  if (add.asked !== null) return <ApprovalStep asked={add.asked} change={add} />;
  return (
    <Form
      form={form}
      error={add.error}
      onSubmit={({ name }) => add.start(name)}
      className="flex flex-wrap items-end gap-2"
    >
      <TextField
        control={form.control}
        name="name"
        label="Name of a new passkey"
        className="min-w-48 flex-1"
        input={{ maxLength: NAME_MAX, placeholder: "Laptop" }}
      />
      <Button type="submit" loading={add.busy} disabled={!nameForm.safeParse(form.watch()).success}>
        Add a passkey
      </Button>
      {problem === null ? null : (
        <Alert tone="warning" title="No passkey was added">
          {problem}
        </Alert>
      )}
      <FormError money="No passkey was added." />
    </Form>
  );
};

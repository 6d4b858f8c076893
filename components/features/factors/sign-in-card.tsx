"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { KeyRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { useQuery } from "@tanstack/react-query";
import { z } from "zod";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useApiMutation, useCache } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Form, FormError, TextField } from "@/components/ui/form";
import { ActionError, joinQueries, QueryCard } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import {
  addPasskey,
  getFactors,
  listPasskeys,
  removePasskey,
  renamePasskey,
  startPasskey,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { Authenticator } from "./authenticator";
import { makePasskey, passkeyProblem } from "./browser-passkey";

export const SignInCard = (): ReactNode => {
  const factors = useQuery(apiQuery(getFactors, {}));
  const passkeys = useQuery(apiQuery(listPasskeys, {}));
  const means = factors.data &&
    passkeys.data && { factors: factors.data, passkeys: passkeys.data.data };
  return (
    <QueryCard
      id="sign-in"
      title="Sign-in and approval"
      description="Your wallet and mailed codes always work. A passkey or an authenticator app is quicker."
      query={joinQueries([factors, passkeys], means)}
      what="your passkeys"
      rows={3}
    >
      {(known) => (
        <div className="divide-y">
          <Passkeys passkeys={known.passkeys} />
          <Authenticator factors={known.factors} />
        </div>
      )}
    </QueryCard>
  );
};

type Passkey = ResponseOf<typeof addPasskey>;

const NAME_MAX = 60;
const nameForm = z.object({ name: z.string().trim().min(1, "Enter a name.").max(NAME_MAX) });
type NameValues = z.infer<typeof nameForm>;

const Passkeys = ({ passkeys }: { readonly passkeys: readonly Passkey[] }): ReactNode => (
  <section aria-label="Passkeys" className="flex flex-col gap-3 p-4">
    <h3 className="font-semibold">Passkeys</h3>
    {passkeys.length === 0 ? (
      <p className="text-fg-2">None yet. A passkey stays on your device.</p>
    ) : null}
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
  const [nowMs] = useState(() => Date.now());
  const api = useApi();
  const cache = useCache();
  const remove = useApprovable<string>("passkey.remove", async (id, proof) => {
    await api.call(removePasskey, { params: { id }, body: proof });
    await cache.refresh(listPasskeys);
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
            {passkey.heldUntil === null || Date.parse(passkey.heldUntil) <= nowMs ? null : (
              <Badge tone="warning">
                Approves from <Time value={passkey.heldUntil} />
              </Badge>
            )}
          </span>
          <span className="flex gap-2">
            <Button
              size="sm"
              variant="ghost"
              aria-label={`Rename ${passkey.name}`}
              onClick={() => setRenaming(true)}
            >
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
      <ActionError error={remove.error} />
    </li>
  );
};

const Rename = ({
  passkey,
  onDone,
}: {
  readonly passkey: Passkey;
  readonly onDone: () => void;
}): ReactNode => {
  const form = useForm({
    resolver: zodResolver(nameForm),
    defaultValues: { name: passkey.name },
  });
  const rename = useApiMutation(renamePasskey);
  const cache = useCache();
  const save = async ({ name }: NameValues): Promise<void> => {
    await rename.mutateAsync({ params: { id: passkey.id }, body: { name } });
    await cache.refresh(listPasskeys);
    onDone();
  };
  return (
    <Form
      form={form}
      error={rename.error}
      onSubmit={save}
      className="flex flex-1 flex-wrap items-end gap-2"
    >
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
  const cache = useCache();
  const add = useApprovable<string>("passkey.add", async (wanted, proof) => {
    setProblem(null);
    const { options } = await api.call(startPasskey, { body: { name: wanted, ...proof } });
    try {
      await api.call(addPasskey, { body: { credential: await makePasskey(options) } });
    } catch (error) {
      const why = passkeyProblem(error);
      if (why === null || (error as Error).name === "ApiError") throw error;
      setProblem(why);
      return;
    }
    form.reset();
    await cache.refresh(listPasskeys);
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
      <Button
        type="submit"
        loading={add.busy}
        disabled={!nameForm.safeParse(form.watch()).success}
      >
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

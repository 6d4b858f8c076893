"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { Combobox } from "@/components/ui/combobox";
import { Dialog } from "@/components/ui/dialog";
import { ControlField, Form, FormError, TextField } from "@/components/ui/form";
import type { BodyOf } from "@/lib/contracts/contract";
import { getGlobalAccount, listGlobalAccounts } from "@/lib/api-client/calls.gen";
import { createGlobalAccount } from "@/lib/contracts/global-accounts";
import { tokenOption } from "@/components/ui/marked-options";
import { useCurrencies } from "./use-currencies";

const NAME_MAX = 80;

/** The currency is an asset's id, because two assets may have the same symbol; an empty name is left out. */
const accountForm = z
  .object({ name: z.string(), currency: z.string() })
  .transform(({ name, currency }) => ({ currency, ...(name.trim() === "" ? {} : { name: name.trim() }) }))
  .pipe(createGlobalAccount.body);

interface OpenAccountDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

export const OpenAccountDialog = ({ open, onOpenChange }: OpenAccountDialogProps): ReactNode => (
  <Dialog open={open} onOpenChange={onOpenChange} title="Open a global account">
    <OpenAccountForm onCancel={() => onOpenChange(false)} />
  </Dialog>
);

const OpenAccountForm = ({ onCancel }: { readonly onCancel: () => void }): ReactNode => {
  const router = useRouter();
  const queryClient = useQueryClient();
  const currencies = useCurrencies();
  const first = currencies?.[0]?.assetId ?? "";
  const form = useForm({
    resolver: zodResolver(accountForm),
    defaultValues: { name: "", currency: "" },
    // The first currency is chosen once the currencies are known; a name that was typed meanwhile stays.
    values: { name: "", currency: first },
    resetOptions: { keepDirtyValues: true },
  });
  const { mutation, send } = useSentOnce(createGlobalAccount);
  const submit = async (body: BodyOf<typeof createGlobalAccount>): Promise<void> => {
    const account = await send({ body }).catch(() => null);
    if (account === null) return;
    toast.success("The account is open.");
    queryClient.setQueryData(queryKeyOf(getGlobalAccount, { params: { id: account.id } }), account);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listGlobalAccounts) });
    router.push(`/accounts/${account.id}`);
  };
  const { name, currency } = form.watch();
  return (
    <Form form={form} error={mutation.error} onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        control={form.control}
        name="name"
        label="Name"
        hint="Whose it is or what it is for. Optional; seen by your team alone."
        input={{ maxLength: NAME_MAX, autoFocus: true }}
      />
      <ControlField
        control={form.control}
        name="currency"
        label="Currency"
        hint="It stays; another currency is another account."
      >
        {(bound) => (
          <Combobox
            {...bound}
            disabled={currencies === undefined}
            options={(currencies ?? []).map(({ assetId, symbol, name: full }) => ({
              ...tokenOption(symbol, assetId),
              description: full,
            }))}
            searchPlaceholder="Symbol or name"
          />
        )}
      </ControlField>
      <FormError money="No account was opened." />
      <ApiSnippet
        method="POST"
        path={createGlobalAccount.path}
        body={{ currency, ...(name.trim() === "" ? {} : { name: name.trim() }) }}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={mutation.isPending} disabled={currency === ""}>
          Open account
        </Button>
      </div>
    </Form>
  );
};

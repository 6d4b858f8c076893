"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { Combobox } from "@/components/ui/combobox";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { createGlobalAccount, getGlobalAccount, listGlobalAccounts } from "@/lib/contracts/global-accounts";
import { useCurrencies } from "./use-currencies";

const NAME_MAX = 80;

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
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const { mutation, send } = useSentOnce(createGlobalAccount);
  // By its id: two assets may go by the same symbol.
  const currency = chosen ?? currencies?.[0]?.assetId ?? "";
  const body = { currency, ...(name.trim() === "" ? {} : { name: name.trim() }) };
  const submit = async (): Promise<void> => {
    const account = await send({ body }).catch(() => null);
    if (account === null) return;
    toast.success("The account is open.");
    queryClient.setQueryData(queryKeyOf(getGlobalAccount, { params: { id: account.id } }), account);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listGlobalAccounts) });
    router.push(`/accounts/${account.id}`);
  };
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (currency !== "") void submit();
      }}
    >
      <Field label="Name" hint="Whose it is or what it is for. Optional; seen by your team alone.">
        <Input value={name} maxLength={NAME_MAX} onChange={(event) => setName(event.target.value)} autoFocus />
      </Field>
      <Field label="Currency" hint="It stays; another currency is another account.">
        <Combobox
          value={currency}
          onValueChange={setChosen}
          disabled={currencies === undefined}
          options={(currencies ?? []).map(({ assetId, symbol, name: full }) => ({
            value: assetId,
            label: symbol,
            description: full,
          }))}
          searchPlaceholder="Symbol or name"
        />
      </Field>
      {mutation.isError ? <ErrorState compact error={mutation.error} money="No account was opened." /> : null}
      <ApiSnippet method="POST" path={createGlobalAccount.path} body={body} />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={mutation.isPending} disabled={currency === ""}>
          Open account
        </Button>
      </div>
    </form>
  );
};

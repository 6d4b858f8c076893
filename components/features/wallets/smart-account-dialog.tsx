"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState, type ReactNode } from "react";
import { Controller, useForm } from "react-hook-form";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address, shorten } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ControlField, Form, FormError, TextField } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { Fact, Facts } from "@/components/ui/card";
import type { BodyInput, BodyOf, ResponseOf } from "@/lib/contracts/contract";
import { listWallets } from "@/lib/api-client/calls.gen";
import { createSmartAccount } from "@/lib/contracts/wallets";
import { chainOption } from "@/components/ui/marked-options";
import { DeploymentBadges } from "./deployment-badge";
import type { WalletRecord } from "./use-wallets";
import { walletName } from "./wallet-name";

type SmartAccount = ResponseOf<typeof createSmartAccount>;

interface SmartAccountDialogProps {
  readonly wallets: readonly WalletRecord[];
  /** The owner that is selected when the dialog opens, for instance the wallet that was just linked. */
  readonly owner?: string | undefined;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Linked wallets first: of the project's key there is one already, the treasury. */
const byKind = (a: WalletRecord, b: WalletRecord): number => Number(a.kind !== "linked") - Number(b.kind !== "linked");

/** The possible owners: the key of the treasury, which the service holds, and each linked wallet. */
const ownersOf = (wallets: readonly WalletRecord[]) =>
  wallets.toSorted(byKind).flatMap((wallet) => {
    if (wallet.kind === "linked") {
      return [
        {
          value: wallet.address,
          label: `${walletName(wallet)} ${shorten(wallet.address)}`,
          description: "You sign what it sends, with this wallet.",
        },
      ];
    }
    return wallet.kind === "treasury" && wallet.ownerAddress !== undefined
      ? [
          {
            value: wallet.ownerAddress,
            label: "The project's own key",
            description:
              "Its smart account is the treasury; the service signs what it sends, after your one-time code.",
          },
        ]
      : [];
  });

export const SmartAccountDialog = ({ wallets, owner, open, onClose }: SmartAccountDialogProps): ReactNode => {
  const [made, setMade] = useState<SmartAccount | null>(null);
  const close = (): void => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => (next ? undefined : close())}
      title={made === null ? "New smart account" : "The smart account is ready"}
      size="lg"
    >
      {made === null ? (
        <SmartAccountForm wallets={wallets} owner={owner} onMade={setMade} onCancel={close} />
      ) : (
        <MadeAccount account={made} onClose={close} />
      )}
    </Dialog>
  );
};

interface FormProps extends Pick<SmartAccountDialogProps, "wallets" | "owner"> {
  readonly onMade: (account: SmartAccount) => void;
  readonly onCancel: () => void;
}

interface FormValues {
  readonly ownerAddress: string;
  readonly chainId: string;
  readonly label: string;
}

/** The body of the request; an empty name is left out. */
const toBody = ({ ownerAddress, chainId, label }: FormValues): BodyInput<typeof createSmartAccount> => ({
  ownerAddress,
  chainId: Number(chainId),
  ...(label.trim() === "" ? {} : { label: label.trim() }),
});

/** Parses the form's values to the body of the request by its contract. */
const accountForm = z
  .object({ ownerAddress: z.string(), chainId: z.string(), label: z.string() })
  .transform(toBody)
  .pipe(createSmartAccount.body);

const SmartAccountForm = ({ wallets, owner, onMade, onCancel }: FormProps): ReactNode => {
  const { chains } = usePublicConfig();
  const owners = ownersOf(wallets);
  const form = useForm({
    resolver: zodResolver(accountForm),
    defaultValues: { ownerAddress: owner ?? owners[0]?.value ?? "", chainId: String(chains[0]?.id ?? ""), label: "" },
  });
  const create = useApiMutation(createSmartAccount);
  const queryClient = useQueryClient();
  const labelId = useId();
  const submit = async (body: BodyOf<typeof createSmartAccount>): Promise<void> => {
    const account = await create.mutateAsync({ body }).catch(() => null);
    if (account === null) return;
    onMade(account);
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listWallets) });
  };
  const values = form.watch();
  return (
    <Form form={form} error={create.error} onSubmit={submit} className="flex flex-col gap-4">
      <p className="text-fg-2">
        A smart account pays no network fees of its own and does several things in one transaction. Its address is known
        before it is deployed and is the same on every chain.
      </p>
      <div className="flex flex-col gap-1">
        <span id={labelId} className="text-sm font-medium text-fg-2">
          Owner
        </span>
        <Controller
          control={form.control}
          name="ownerAddress"
          render={({ field }) => (
            <RadioCards labelledBy={labelId} value={field.value} onValueChange={field.onChange} options={owners} />
          )}
        />
      </div>
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <ControlField
          control={form.control}
          name="chainId"
          label="First chain"
          hint="The address is the same on the others."
        >
          {(bound) => <Select {...bound} options={chains.map(chainOption)} />}
        </ControlField>
        <TextField control={form.control} name="label" label="Name" hint="Optional." input={{ maxLength: 80 }} />
      </div>
      <FormError money="No account was made." />
      <ApiSnippet method="POST" path={createSmartAccount.path} body={toBody(values)} />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" loading={create.isPending} disabled={values.ownerAddress === ""}>
          Create smart account
        </Button>
      </div>
    </Form>
  );
};

interface MadeAccountProps {
  readonly account: SmartAccount;
  readonly onClose: () => void;
}

const MadeAccount = ({ account, onClose }: MadeAccountProps): ReactNode => (
  <div className="flex flex-col gap-4">
    <Facts>
      <Fact label="Address" strong>
        <Address value={account.address} full />
      </Fact>
      <Fact label="Owner">
        <Address value={account.ownerAddress} full />
      </Fact>
      <Fact label="Signs">{account.signer === "service" ? "the service" : "you, with the owner's wallet"}</Fact>
      <Fact label="State">
        <DeploymentBadges chains={[account]} />
      </Fact>
    </Facts>
    {account.deployed === true ? null : (
      <Alert tone="info" title="It can receive already">
        Its address follows from its owner and is the same on every chain, so you may fund it before it is deployed.
        Only its owner can move what it holds.
      </Alert>
    )}
    <div className="flex justify-end">
      <Button variant="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  </div>
);

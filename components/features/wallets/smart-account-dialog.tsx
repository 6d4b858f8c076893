"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { CircleCheck, CircleDashed, CircleHelp } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address, shorten } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { Dialog } from "@/components/ui/dialog";
import { ControlField, RadioField, TextField, DialogForm } from "@/components/ui/form";
import { chainOption } from "@/components/ui/marks";
import { Select } from "@/components/ui/select";
import { listWallets } from "@/lib/api-client/calls.gen";
import type { BodyInput, BodyOf, ResponseOf } from "@/lib/contracts/contract";
import { createSmartAccount } from "@/lib/contracts/wallets";
import { walletName, type WalletRecord } from "./use-wallets";

type SmartAccount = ResponseOf<typeof createSmartAccount>;

interface SmartAccountDialogProps {
  readonly wallets: readonly WalletRecord[];
  /**
   * The owner that is selected when the dialog opens, for instance the wallet that was just linked.
   */
  readonly owner: string | undefined;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Linked wallets first, because the project's key already has a smart account: the treasury. */
const byKind = (a: WalletRecord, b: WalletRecord): number =>
  Number(a.kind !== "linked") - Number(b.kind !== "linked");

/**
 * The possible owners: the key of the treasury, which the service holds, and each linked wallet.
 */
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

export const SmartAccountDialog = ({
  wallets,
  owner,
  open,
  onClose,
}: SmartAccountDialogProps): ReactNode => {
  const [made, setMade] = useState<SmartAccount | null>(null);
  const close = (): void => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
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
const toBody = ({
  ownerAddress,
  chainId,
  label,
}: FormValues): BodyInput<typeof createSmartAccount> => ({
  ownerAddress,
  chainId: Number(chainId),
  ...(label.trim() === "" ? {} : { label: label.trim() }),
});

/** Converts the form's values to the request body, and validates it against the API contract. */
const accountForm = z
  .object({ ownerAddress: z.string(), chainId: z.string(), label: z.string() })
  .transform(toBody)
  .pipe(createSmartAccount.body);

const SmartAccountForm = ({ wallets, owner, onMade, onCancel }: FormProps): ReactNode => {
  const { chains } = usePublicConfig();
  const owners = ownersOf(wallets);
  const form = useForm({
    resolver: zodResolver(accountForm),
    defaultValues: {
      ownerAddress: owner ?? owners[0]?.value ?? "",
      chainId: String(chains[0]?.id ?? ""),
      label: "",
    },
  });
  const create = useApiMutation(createSmartAccount);
  const cache = useCache();
  const submit = async (body: BodyOf<typeof createSmartAccount>): Promise<void> => {
    onMade(await create.mutateAsync({ body }));
    await cache.refresh(listWallets);
  };
  const values = form.watch();
  return (
    <DialogForm
      form={form}
      error={create.error}
      onSubmit={submit}
      money="No account was made."
      act="Create smart account"
      busy={create.isPending}
      disabled={values.ownerAddress === ""}
      onCancel={onCancel}
      snippet={<ApiSnippet call={createSmartAccount} body={toBody(values)} />}
    >
      <p className="text-fg-2">
        A smart account pays no network fees of its own and does several things in one
        transaction. Its address is known before it is deployed and is the same on every chain.
      </p>
      <RadioField control={form.control} name="ownerAddress" label="Owner" options={owners} />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <ControlField
          control={form.control}
          name="chainId"
          label="First chain"
          hint="The address is the same on the others."
        >
          {(bound) => <Select {...bound} options={chains.map(chainOption)} />}
        </ControlField>
        <TextField
          control={form.control}
          name="label"
          label="Name"
          hint="Optional."
          input={{ maxLength: 80 }}
        />
      </div>
    </DialogForm>
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
      <Fact label="Signs">
        {account.signer === "service" ? "the service" : "you, with the owner's wallet"}
      </Fact>
      <Fact label="State">
        <DeploymentBadges chains={[account]} />
      </Fact>
    </Facts>
    {account.deployed === true ? null : (
      <Alert tone="info" title="It can receive already">
        Its address follows from its owner and is the same on every chain, so you may fund it
        before it is deployed. Only its owner can move what it holds.
      </Alert>
    )}
    <div className="flex justify-end">
      <Button variant="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  </div>
);

const VIEWS = [
  { deployed: true, icon: CircleCheck, tone: "success", words: "Deployed on" },
  { deployed: false, icon: CircleDashed, tone: "neutral", words: "Not yet deployed on" },
  { deployed: null, icon: CircleHelp, tone: "warning", words: "No answer of" },
] as const;

/**
 * Shows on which chains the contract of a smart account is deployed, with a badge for each state.
 */
export const DeploymentBadges = ({ chains }: Pick<WalletRecord, "chains">): ReactNode => {
  const { chains: known } = usePublicConfig();
  const nameOf = (chainId: number): string =>
    known.find((chain) => chain.id === chainId)?.name ?? `Chain ${String(chainId)}`;
  return (
    <span className="flex flex-col items-end gap-1">
      {VIEWS.map(({ deployed, icon, tone, words }) => {
        const names = chains
          .filter((chain) => chain.deployed === deployed)
          .map((chain) => nameOf(chain.chainId));
        return names.length === 0 ? null : (
          <Badge key={words} icon={icon} tone={tone} title={names.join(", ")}>
            {words} {names.join(", ")}
          </Badge>
        );
      })}
      {chains.some((chain) => chain.deployed === false) ? (
        <span className="text-sm text-fg-3">
          Its first operation on a chain deploys it there; it can receive before.
        </span>
      ) : null}
    </span>
  );
};

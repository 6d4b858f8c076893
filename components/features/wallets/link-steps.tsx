"use client";

import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Address as EvmAddress } from "viem";
import { useConfig } from "wagmi";
import { signMessage } from "wagmi/actions";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { queryKeyOf } from "@/components/features/session/api-query";
import { useApi, useCache } from "@/components/features/session/use-api";
import {
  AccountChooser,
  useWalletAccounts,
} from "@/components/features/signing/account-chooser";
import { connectorWith } from "@/components/features/signing/wallet-access";
import { usePublicConfig } from "@/components/providers/public-config";
import { WalletProviders } from "@/components/providers/wallet-providers";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { MessageText } from "@/components/ui/code-block";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { Countdown } from "@/components/ui/time";
import { ActionError, QueryContent } from "@/components/ui/states";
import { Steps } from "@/components/ui/timeline";
import {
  getUnifiedBalances,
  initWalletLink,
  listWallets,
  verifyWalletLink,
} from "@/lib/api-client/calls.gen";
import { isSameText } from "@/lib/core/same-text";
import { linkProblem, type LinkProblem, missingAccount } from "./link-error";
import type { WalletRecord } from "./use-wallets";
import { LabelForm, WalletLabel } from "./wallet-card";

interface LinkStepsProps {
  readonly wallets: readonly WalletRecord[];
  readonly onClose: () => void;
  readonly onSmartAccount: (owner: string) => void;
}

/** Content of the dialog. It is loaded when the dialog opens. */
export const LinkSteps = (props: LinkStepsProps): ReactNode => (
  <WalletProviders>
    <Content {...props} />
  </WalletProviders>
);

const Content = ({ wallets, onClose, onSmartAccount }: LinkStepsProps): ReactNode => {
  const [account, setAccount] = useState<string | null>(null);
  const [isLinked, setIsLinked] = useState(false);
  const steps = (current: number, content: ReactNode): ReactNode => (
    <div className="flex flex-col gap-4">
      <Steps
        label="Steps to link a wallet"
        steps={["Choose an account", "Read and sign", "Linked"]}
        current={current}
      />
      {content}
    </div>
  );
  if (account === null) return steps(0, <ChooseStep wallets={wallets} onChoose={setAccount} />);
  const chooseAnother = (): void => {
    setIsLinked(false);
    setAccount(null);
  };
  if (!isLinked)
    return steps(
      1,
      <LinkMessage
        key={account}
        address={account}
        onLinked={() => setIsLinked(true)}
        onBack={chooseAnother}
      />,
    );
  return steps(
    2,
    <LinkedStep
      wallet={wallets.find((wallet) => isSameText(wallet.address, account))}
      address={account}
      onClose={onClose}
      onAnother={chooseAnother}
      onSmartAccount={onSmartAccount}
    />,
  );
};

interface ChooseStepProps {
  readonly wallets: readonly WalletRecord[];
  readonly onChoose: (address: string) => void;
}

const ChooseStep = ({ wallets, onChoose }: ChooseStepProps): ReactNode => {
  const { accounts } = useWalletAccounts();
  const isLinked = (address: string): boolean =>
    wallets.some((wallet) => isSameText(wallet.address, address));
  /** A single new account is used at once. When there are several, the person chooses one. */
  const takeNew = (now: readonly string[]): void => {
    const fresh = now.filter(
      (address) =>
        !isLinked(address) && !accounts.some((known) => isSameText(known.address, address)),
    );
    if (fresh.length === 1 && fresh[0] !== undefined) onChoose(fresh[0]);
  };
  return (
    <>
      <p className="text-fg-2">
        A linked wallet is a source for swaps and transfers; its own key signs what it sends.
        You stay signed in as you are.
      </p>
      {accounts.length === 0 ? null : (
        <ul aria-label="Accounts of your wallets" className="divide-y rounded-card border">
          {accounts.map(({ address, connector }) => (
            <li
              key={connector.uid + address}
              className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 px-3 py-2"
            >
              <span className="min-w-0">
                <Address value={address} full />
                <span className="block text-sm text-fg-3">{connector.name}</span>
              </span>
              {isLinked(address) ? (
                <Badge tone="success">linked</Badge>
              ) : (
                <Button
                  size="sm"
                  aria-label={`Link ${address}`}
                  onClick={() => onChoose(address)}
                >
                  Link this
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <AccountChooser onAccounts={takeNew} />
    </>
  );
};

interface LinkedStepProps {
  /** Undefined until the list of wallets has been read again. */
  readonly wallet: WalletRecord | undefined;
  readonly address: string;
  readonly onClose: () => void;
  readonly onAnother: () => void;
  readonly onSmartAccount: (owner: string) => void;
}

const LinkedStep = ({
  wallet,
  address,
  onClose,
  onAnother,
  onSmartAccount,
}: LinkedStepProps): ReactNode => {
  const [named, setNamed] = useState(false);
  return (
    <>
      <Alert tone="success" title="The wallet is linked">
        It can be a source now. Nothing was moved.
      </Alert>
      <Facts>
        <Fact label="Address">
          <Address value={address} full />
        </Fact>
        {wallet === undefined ? null : (
          <Fact label="Name">
            {named || wallet.label !== undefined ? (
              <WalletLabel wallet={wallet} />
            ) : (
              <LabelForm wallet={wallet} onClose={() => setNamed(true)} />
            )}
          </Fact>
        )}
      </Facts>
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="ghost" onClick={onAnother}>
          Link another
        </Button>
        <Button onClick={() => onSmartAccount(address)}>Make its smart account</Button>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </>
  );
};

interface LinkMessageProps {
  readonly address: string;
  readonly onLinked: () => void;
  readonly onBack: () => void;
}

/** The service's message for this account. Its nonce is valid for one signature. */
const useLinkMessage = (address: string) => {
  const api = useApi();
  const config = useConfig();
  const { chains } = usePublicConfig();
  return useQuery({
    queryKey: [...queryKeyOf(initWalletLink), address],
    queryFn: async ({ signal }) => {
      const connector = await connectorWith(config, address);
      const current = await connector?.getChainId();
      // The message contains the wallet's chain, because a contract's signature is checked on that
      // chain.
      const chainId = chains.find((chain) => chain.id === current)?.id;
      return api.call(initWalletLink, {
        body: { address, chainId },
        signal,
      });
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
};

/** Signs the message and has the service verify it. Stores the reason of a failure. */
const useLinking = ({
  address,
  onLinked,
  renew,
}: LinkMessageProps & { readonly renew: () => void }) => {
  const api = useApi();
  const config = useConfig();
  const cache = useCache();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<LinkProblem | null>(null);
  const [failure, setFailure] = useState<unknown>(null);

  const link = async (message: string): Promise<void> => {
    const connector = await connectorWith(config, address);
    if (connector === undefined) {
      setProblem(missingAccount(address));
      return;
    }
    const signature = await signMessage(config, {
      connector,
      account: address as EvmAddress,
      message,
    });
    await api.call(verifyWalletLink, { body: { address, signature } });
    await cache.refresh(listWallets, getUnifiedBalances);
    onLinked();
  };
  const sign = async (message: string): Promise<void> => {
    setBusy(true);
    setProblem(null);
    setFailure(null);
    try {
      await link(message);
    } catch (error) {
      const known = linkProblem(error);
      setProblem(known);
      if (known === null) setFailure(error);
      if (known?.next === "renew") renew();
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, failure, sign };
};

const LinkMessage = (props: LinkMessageProps): ReactNode => {
  const { address, onBack } = props;
  const message = useLinkMessage(address);
  const { busy, problem, failure, sign } = useLinking({
    ...props,
    renew: () => void message.refetch(),
  });
  const refused = message.isError ? linkProblem(message.error) : null;
  const shown = problem ?? refused;
  return (
    <>
      <p>
        Account <Address value={address} full />
      </p>
      {refused === null || message.data !== undefined ? (
        <QueryContent query={message} what="the message" compact money="Nothing was signed.">
          {({ message: text, expiresAt }) => (
            <>
              <p className="flex flex-wrap items-baseline justify-between gap-x-4 text-fg-2">
                <span>
                  This is what you sign, word for word. It moves no money and gives nobody
                  permission to move any.
                </span>
                <Countdown
                  until={expiresAt}
                  label="Good for"
                  expiredText="Too old; a new one comes"
                  onExpire={() => void message.refetch()}
                />
              </p>
              <MessageText label="Message to sign">{text}</MessageText>
            </>
          )}
        </QueryContent>
      ) : null}
      {shown === null ? null : (
        <Alert tone="warning" title={shown.title}>
          {shown.text}
        </Alert>
      )}
      <ActionError error={failure} money="The wallet is not linked." />
      <ApiSnippet call={initWalletLink} auth="bearer" body={{ address }} />
      <div className="flex flex-wrap justify-between gap-2">
        <Button variant="ghost" disabled={busy} onClick={onBack}>
          <ArrowLeft aria-hidden /> Another account
        </Button>
        <Button
          variant="primary"
          loading={busy}
          disabled={
            message.data === undefined || message.isFetching || shown?.next === "choose"
          }
          onClick={() =>
            message.data === undefined ? undefined : void sign(message.data.message)
          }
        >
          {busy ? "Waiting for the signature …" : "Sign and link"}
        </Button>
      </div>
    </>
  );
};

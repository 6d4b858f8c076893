"use client";

import { useState, type ReactNode } from "react";
import { AccountChooser } from "@/components/features/signing/account-chooser";
import { useWalletAccounts } from "@/components/features/signing/use-wallet-accounts";
import { WalletProviders } from "@/components/providers/wallet-providers";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { Steps } from "@/components/ui/timeline";
import { LinkMessage } from "./link-message";
import type { WalletRecord } from "./use-wallets";
import { LabelForm, WalletLabel } from "./wallet-label";

interface LinkStepsProps {
  readonly wallets: readonly WalletRecord[];
  readonly onClose: () => void;
  /** Goes on to a smart account of the wallet that was linked. */
  readonly onSmartAccount: (owner: string) => void;
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The content of the dialog, which is loaded when it opens. */
export const LinkSteps = (props: LinkStepsProps): ReactNode => (
  <WalletProviders>
    <Content {...props} />
  </WalletProviders>
);

const Content = ({ wallets, onClose, onSmartAccount }: LinkStepsProps): ReactNode => {
  const [account, setAccount] = useState<string | null>(null);
  const [linked, setLinked] = useState<string | null>(null);
  return (
    <div className="flex flex-col gap-4">
      <Steps
        label="Steps to link a wallet"
        steps={["Choose an account", "Read and sign", "Linked"]}
        current={linked !== null ? 2 : account !== null ? 1 : 0}
      />
      {linked !== null ? (
        <LinkedStep
          wallet={wallets.find((wallet) => same(wallet.address, linked))}
          address={linked}
          onClose={onClose}
          onAnother={() => {
            setLinked(null);
            setAccount(null);
          }}
          onSmartAccount={onSmartAccount}
        />
      ) : account === null ? (
        <ChooseStep wallets={wallets} onChoose={setAccount} />
      ) : (
        <LinkMessage
          key={account}
          address={account}
          onLinked={() => setLinked(account)}
          onBack={() => setAccount(null)}
        />
      )}
    </div>
  );
};

interface ChooseStepProps {
  readonly wallets: readonly WalletRecord[];
  readonly onChoose: (address: string) => void;
}

const ChooseStep = ({ wallets, onChoose }: ChooseStepProps): ReactNode => {
  const { accounts } = useWalletAccounts();
  const isLinked = (address: string): boolean => wallets.some((wallet) => same(wallet.address, address));
  /** The one that came new is what the person meant; with several they choose. */
  const takeNew = (now: readonly string[]): void => {
    const fresh = now.filter(
      (address) => !isLinked(address) && !accounts.some((known) => same(known.address, address)),
    );
    if (fresh.length === 1 && fresh[0] !== undefined) onChoose(fresh[0]);
  };
  return (
    <>
      <p className="text-fg-2">
        A linked wallet is a source for swaps and transfers; its own key signs what it sends. You stay signed in as you
        are.
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
                <Button size="sm" aria-label={`Link ${address}`} onClick={() => onChoose(address)}>
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
  /** Undefined until the list of wallets is there again. */
  readonly wallet: WalletRecord | undefined;
  readonly address: string;
  readonly onClose: () => void;
  readonly onAnother: () => void;
  readonly onSmartAccount: (owner: string) => void;
}

const LinkedStep = ({ wallet, address, onClose, onAnother, onSmartAccount }: LinkedStepProps): ReactNode => {
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

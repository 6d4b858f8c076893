"use client";

import { Plus } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Select } from "@/components/ui/select";
import { NewWalletDialog } from "./new-wallet-dialog";
import type { PrivacyWallet } from "./types";
import type { ChosenWallet } from "./use-chosen-wallet";

interface WalletSwitcherProps {
  readonly wallets: readonly PrivacyWallet[];
  readonly chosen: ChosenWallet;
}

/** Which private wallet the page shows, and the way to another one. */
export const WalletSwitcher = ({ wallets, chosen }: WalletSwitcherProps): ReactNode => {
  const [creating, setCreating] = useState(false);
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      {wallets.length === 0 ? null : (
        <Select
          label="Private wallet"
          className="w-44"
          value={chosen.walletId}
          onValueChange={chosen.choose}
          options={wallets.map(({ privacyWalletId, name }) => ({ value: privacyWalletId, label: name }))}
        />
      )}
      <Button onClick={() => setCreating(true)}>
        <Plus aria-hidden /> New wallet
      </Button>
      <NewWalletDialog open={creating} onOpenChange={setCreating} onCreated={chosen.choose} />
    </div>
  );
};

import { Flame, Wallet } from "lucide-react";
import type { ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";

/** A wallet of the browser, or, with local chains, the app's own burner wallet. */
export type WalletChoice = "browser" | "burner";

interface ChooseWalletProps {
  readonly onChoose: (choice: WalletChoice) => void;
  /**
   * Whether the buttons cannot work yet, because the page's scripts or the wallets are still
   * loading.
   */
  readonly disabled: boolean;
  /** The choice that is being carried out; null when there is none. */
  readonly pending: WalletChoice | null;
  /** Why the wallet was not connected; null when nothing failed. */
  readonly problem: string | null;
}

export const ChooseWallet = ({
  onChoose,
  disabled,
  pending,
  problem,
}: ChooseWalletProps): ReactNode => {
  const { devnet } = usePublicConfig();
  return (
    <div className="flex flex-col gap-4">
      <Button
        variant="primary"
        size="lg"
        disabled={disabled}
        loading={pending === "browser"}
        onClick={() => onChoose("browser")}
      >
        <Wallet aria-hidden /> Connect a wallet
      </Button>
      {devnet ? (
        <div className="flex flex-col gap-2 border-t pt-4">
          <Button
            size="lg"
            disabled={disabled}
            loading={pending === "burner"}
            onClick={() => onChoose("burner")}
          >
            <Flame aria-hidden /> Use the burner wallet
          </Button>
          <p className="text-sm text-fg-2">
            Burner wallet – development only. A key made in this browser, without an extension.
            It works on the local chains alone; never send real money to it.
          </p>
        </div>
      ) : null}
      {problem === null ? null : (
        <Alert tone="danger" title="The wallet was not connected">
          {problem} Nothing was signed. Try again, or choose another wallet.
        </Alert>
      )}
    </div>
  );
};

import type { ReactNode } from "react";
import { ConfirmDialog } from "@/components/ui/dialog";
import { Alert } from "@/components/ui/alert";
import { countText } from "@/lib/core/amount-text";
import { setText } from "../observer/scenes";

/** Whether a transfer out of a set of this size needs a second confirmation. */
export const isSmallSet = (size: number, min: number): boolean => size < min;

interface SmallSetProps {
  readonly size: number;
  readonly min: number;
}

/** Said before anything is asked for. */
export const SmallSetAlert = ({ size, min }: SmallSetProps): ReactNode => (
  <Alert tone="warning" title={`Only ${setText(size)} hide this transfer`}>
    At least {countText(min)} are recommended. With fewer, somebody who watches the chain can guess who paid.
  </Alert>
);

interface SmallSetDialogProps {
  /** The size of the set when the service refused it as too small; else null. */
  readonly size: number | null;
  readonly onAccept: () => Promise<void>;
  readonly onClose: () => void;
}

/** The second confirmation: the transfer is sent again with `acceptSmallSet`. */
export const SmallSetDialog = ({ size, onAccept, onClose }: SmallSetDialogProps): ReactNode => (
  <ConfirmDialog
    open={size !== null}
    onOpenChange={(open) => (open ? undefined : onClose())}
    title={`Only ${setText(size)} hide this transfer`}
    description="Somebody who watches the chain can guess who paid. Wait until more deposits are in the pool, or go on all the same. Nothing was sent."
    confirmLabel="Accept the small set"
    cancelLabel="Wait"
    onConfirm={onAccept}
  />
);

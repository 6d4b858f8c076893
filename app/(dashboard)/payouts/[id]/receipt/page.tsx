import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { ReceiptPage } from "@/components/features/payouts/receipt-page";

export const metadata: Metadata = { title: "Payout receipt" };

export default recordPage((id) => <ReceiptPage key={id} payoutId={id} />);

import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ReceiptPage } from "@/components/features/payouts/receipt-page";

export const metadata: Metadata = { title: "Payout receipt" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return <ReceiptPage key={id} payoutId={id} />;
};

export default Page;

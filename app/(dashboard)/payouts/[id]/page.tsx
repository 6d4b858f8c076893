import type { Metadata } from "next";
import type { ReactNode } from "react";
import { PayoutPage } from "@/components/features/payouts/payout-page";

export const metadata: Metadata = { title: "Payout" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return <PayoutPage key={id} payoutId={id} />;
};

export default Page;

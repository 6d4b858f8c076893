import type { Metadata } from "next";
import type { ReactNode } from "react";
import { SchedulePage } from "@/components/features/payouts/schedules/schedule-page";

export const metadata: Metadata = { title: "Payout schedule" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return <SchedulePage key={id} scheduleId={id} />;
};

export default Page;

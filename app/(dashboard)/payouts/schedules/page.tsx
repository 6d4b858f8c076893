import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Schedules } from "@/components/features/payouts/schedules/schedules-page";

export const metadata: Metadata = { title: "Payout schedules" };

const Page = (): ReactNode => <Schedules />;

export default Page;

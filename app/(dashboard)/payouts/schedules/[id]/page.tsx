import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { SchedulePage } from "@/components/features/payouts/schedules/schedule-page";

export const metadata: Metadata = { title: "Payout schedule" };

export default recordPage((id) => <SchedulePage key={id} scheduleId={id} />);

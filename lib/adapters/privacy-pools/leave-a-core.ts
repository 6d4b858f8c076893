import os from "node:os";

// The proving library starts a thread for each processor and has no option for fewer. One processor is left to what answers
// requests: with all of them a request took 1.8 times as long while a proof was made, on two processors.
const processors = os.cpus();
os.cpus = () => processors.slice(0, Math.max(1, processors.length - 1));

//! Each row of the limits of the job tool that needs no command.

use super::*;

fn add(jobs: &BackgroundJobs) -> String {
    jobs.register("bash", "make", Instant::now(), CancelToken::default()).unwrap()
}

#[test]
fn limit_running_at_the_same_time() {
    let jobs = BackgroundJobs::default();
    let ids: Vec<String> = (0..DEFAULT_MAX_RUNNING_JOBS).map(|_| add(&jobs)).collect();
    let refused = jobs.register("bash", "make", Instant::now(), CancelToken::default());
    assert_eq!(refused, Err(TooManyJobsError(15)));
    jobs.complete(&ids[0], Ok(String::new()));
    add(&jobs);
    assert_eq!(BackgroundJobs::new(0).table().max_running, 1);
    assert_eq!(BackgroundJobs::new(1_000).table().max_running, 100);
}

#[test]
fn limit_5_minutes_behind_its_end_and_what_nobody_heard_of_stays() {
    let jobs = BackgroundJobs::default();
    let (told, untold) = (add(&jobs), add(&jobs));
    jobs.complete(&told, Ok("fine".into()));
    jobs.acknowledge(std::slice::from_ref(&told));
    jobs.complete(&untold, Err("no".into()));
    let ids = |now| jobs.list_at(now).into_iter().map(|job| job.id).collect::<Vec<_>>();
    let now = Instant::now();
    assert_eq!(ids(now + RETENTION - Duration::from_secs(1)), [told, untold.clone()]);
    assert_eq!(ids(now + RETENTION).join(" "), untold);
    assert_eq!(jobs.take_finished().len(), 1);
    assert!(ids(now + RETENTION).is_empty());
    assert_eq!(jobs.cancel(&untold), JobCancel::NotFound);
}

#[test]
fn an_end_is_told_once_and_not_to_whoever_waits_for_it() {
    let jobs = BackgroundJobs::default();
    let id = add(&jobs);
    let watched = [id.clone()];
    assert!(!jobs.wait_for_any(&watched, Duration::ZERO, &|| false, (Duration::from_secs(1), &mut || {})));
    let mut ticks = 0;
    let ended = jobs.wait_for_any(
        &watched,
        Duration::from_secs(600),
        &|| false,
        (Duration::ZERO, &mut || {
            ticks += 1;
            jobs.complete(&id, Ok("done".into()));
            assert_eq!(jobs.take_finished(), [], "somebody waits for it");
        }),
    );
    assert_eq!((ended, ticks), (true, 1));
    assert_eq!(jobs.take_finished()[0].result_text.as_deref(), Some("done"));
    assert_eq!(jobs.take_finished(), []);
}

#[test]
fn nobody_waits_longer_than_wanted() {
    let jobs = BackgroundJobs::default();
    let id = add(&jobs);
    let stopped = jobs.wait_for_any(&[id], Duration::from_secs(600), &|| true, (Duration::ZERO, &mut || {}));
    assert!(!stopped);
}

#[test]
fn a_cancelled_job_stays_cancelled_and_keeps_what_it_said() {
    let jobs = BackgroundJobs::default();
    let token = CancelToken::default();
    let id = jobs.register("bash", "make", Instant::now(), token.clone()).unwrap();
    assert_eq!(jobs.cancel(&id), JobCancel::Cancelled);
    assert!(token.is_cancelled());
    jobs.complete(&id, Ok("half".into()));
    let job = jobs.list().remove(0);
    assert_eq!((job.status, job.result_text.as_deref()), (JobStatus::Cancelled, Some("half")));
    assert_eq!(jobs.cancel(&id), JobCancel::AlreadyCompleted);
    assert_eq!(jobs.take_finished(), []);
}

#[test]
fn what_is_cancelled_is_no_news_for_the_person_and_some_for_the_model() {
    let jobs = BackgroundJobs::default();
    let (ended, token) = (add(&jobs), CancelToken::default());
    jobs.complete(&ended, Ok("done".into()));
    jobs.take_unshown();
    let running = jobs.register("bash", "make all", Instant::now(), token.clone()).unwrap();
    assert_eq!(jobs.cancel_all(), ["make all"]);
    assert!(token.is_cancelled());
    jobs.complete(&running, Err("stopped".into()));
    assert!(!jobs.has_unshown(), "a prompt that is being typed would be asked again");
    let told: Vec<_> = jobs.take_finished().into_iter().map(|job| (job.id, job.status)).collect();
    assert_eq!(told, [(ended, JobStatus::Completed), (running, JobStatus::Cancelled)]);
}

#[test]
fn a_person_is_shown_what_ended_by_itself_and_what_no_call_showed() {
    let jobs = BackgroundJobs::default();
    let (by_itself, polled, cancelled) = (add(&jobs), add(&jobs), add(&jobs));
    assert!(!jobs.has_unshown());
    jobs.complete(&by_itself, Ok("done".into()));
    jobs.complete(&polled, Ok("done".into()));
    jobs.acknowledge(std::slice::from_ref(&polled));
    jobs.cancel(&cancelled);
    jobs.complete(&cancelled, Err("stopped".into()));
    assert!(jobs.has_unshown());
    let shown: Vec<String> = jobs.take_unshown().into_iter().map(|job| job.id).collect();
    assert_eq!(shown, std::slice::from_ref(&by_itself));
    assert!(!jobs.has_unshown() && jobs.take_unshown().is_empty());
    let told: Vec<String> = jobs.take_finished().into_iter().map(|job| job.id).collect();
    assert_eq!(told, [by_itself], "the model is told all the same");
}
